/** Of the journals that are written; others are refused. */
export const JOURNAL_FORMAT = 1
