// Policies on the host's side: people who are asked.

export { ApprovalDesk, approvalProvider } from './approval.js'
export type { ApprovalKind, ApprovalRequest, AskPerson } from './approval.js'
