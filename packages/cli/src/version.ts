// The version of the command. The bundle replaces BRIDLE_VERSION by the text of package.json; from source there is none.

declare const BRIDLE_VERSION: string | undefined

export const VERSION = typeof BRIDLE_VERSION === 'string' ? BRIDLE_VERSION : '0.0.0-source'
