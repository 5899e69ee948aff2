// What goes wrong with an event log beside what its files and its database say.

export class EventLogError extends Error {
  override readonly name = 'EventLogError'
}
