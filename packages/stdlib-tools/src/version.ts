// The version that Bridle reports to servers and services. KEEP WITH: packages/stdlib-tools/package.json (a test compares).

export const VERSION = '0.1.0'
