// The version of the command. The bundler replaces BRIDLE_VERSION by the content of package.json; from source there is none.

declare const BRIDLE_VERSION: string | undefined

export const VERSION = typeof BRIDLE_VERSION === 'string' ? BRIDLE_VERSION : '0.0.0-source'
