// Policies on the host's side: people who are asked, and what tools may be used with.

export { ApprovalDesk, approvalProvider } from './approval.js'
export type { ApprovalKind, ApprovalRequest, AskPerson } from './approval.js'
export { grantScope } from './grants.js'
export type { ImportGrant, ImportGrants, ToolGrant, ToolGrants } from './grants.js'
export { defineConstraint } from './constraints.js'
export type { Constraint, ConstraintDefinition } from './constraints.js'
