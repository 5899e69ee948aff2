{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-11-22T09:50:04.71201135Z",
  "signer_fingerprint": "35c65fc972f5a8eb0d0177f325f53b5ec5fec691bbfffae8bc462b57931fee82",
  "ed25519_sig_base64": "tVIy99QghB3YrFVw3DQg3v+bzw7T/yjB6aBm273oKejesPPUicUUHsyTwGqNMDEMJYJRwdSwq+fNYq1H8qNqBw==",
  "skill_sha256": "aade2b4ff32e8d132e0c308a2ec27be98f937821de5123b94b59dd1dde385d88"
}