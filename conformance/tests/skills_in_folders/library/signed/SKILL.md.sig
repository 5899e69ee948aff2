{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-11-22T09:50:04.674802214Z",
  "signer_fingerprint": "35c65fc972f5a8eb0d0177f325f53b5ec5fec691bbfffae8bc462b57931fee82",
  "ed25519_sig_base64": "M6BXTi55c15vFVeXGRwZeFFjChbhUZiEqSRyWaSh3qfRDRwSQZCmMe9Vdd4A0JLb69MShS60WyhRVAFfirUIBw==",
  "skill_sha256": "0fc3263fc1fc20d09b12a01f09ef2e677154d2fa3d2fefab3ec27a422bcd5eda"
}