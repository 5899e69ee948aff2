// Policies on the host's side: people who are asked, and what tools may be used with.

export { APPROVAL_KINDS, ApprovalDesk, approvalProvider } from './host-approval.js'
export type { ApprovalKind, ApprovalRequest, AskPerson } from './host-approval.js'
export { grantScope } from './host-grants.js'
export type { ImportGrant, ImportGrants, ToolGrant, ToolGrants } from './host-grants.js'
export { defineConstraint } from './host-constraints.js'
export type { Constraint, ConstraintDefinition } from './host-constraints.js'
