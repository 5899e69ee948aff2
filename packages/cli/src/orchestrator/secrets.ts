// Secrets that a manifest names as `namespace/name`, read from the environment.

import { CommandError } from '../errors.js'

/** Sources of secrets; the system's key ring is not supported. */
export function listSecretProviders(): readonly string[] {
  const given = process.env['HARN_SECRET_PROVIDERS'] ?? ''
  return given === '' ? ['env', 'keyring'] : given.split(',').map((name) => name.trim())
}

export function readSecretNamespace(folder: string): string {
  const given = process.env['HARN_SECRET_NAMESPACE'] ?? ''
  return given === '' ? `harn/${folder.split('/').at(-1) ?? ''}` : given
}

export function nameSecretVariable(id: string): string {
  const [, namespace = '', name = '', version] = /^([^/@]+)\/([^@]+?)(?:@([^@]+))?$/.exec(id) ?? []
  const part = (text: string): string => text.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase()
  return `HARN_SECRET_${part(namespace)}_${part(name)}${version === undefined ? '' : `_V${part(version)}`}`
}

/** Throws CommandError if the secret is not found. */
export function readSecret(id: string): string {
  const name = nameSecretVariable(id)
  const value = process.env[name] ?? ''
  if (value === '') throw new CommandError(`secret '${id}' is not available: set the environment variable ${name}`)
  return value
}
