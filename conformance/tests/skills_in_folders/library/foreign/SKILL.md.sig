{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-11-22T09:50:04.727037673Z",
  "signer_fingerprint": "35c65fc972f5a8eb0d0177f325f53b5ec5fec691bbfffae8bc462b57931fee82",
  "ed25519_sig_base64": "Q81HfSDvmYaGjZ1wuBhogzgZqgSn5opgriLU4DJNtVj6HIZegomwH5cBNuHCNJ5SPTvHVnRiJi+wI4vAEcz4DA==",
  "skill_sha256": "c5a4173429fa4fa1fb10bb1501b9ec65ea8ac390c67760d08e9cf60f555112a8"
}