// Policies on the host's side: people who are asked, and what tools may be used with.

export { ApprovalDesk, approvalProvider } from './host-approval.js'
export type { AskPerson } from './host-approval.js'
export { APPROVAL_KINDS } from './approval-request.js'
export type { ApprovalCall, ApprovalKind, ApprovalRequest } from './approval-request.js'
export { AnswerError } from './answers.js'
export type { Answer, Decision } from './answers.js'
export type { ApprovalRule, Approve, ApproveOptions } from './approval-options.js'
export { grantScope } from './host-grants.js'
export type { ImportGrant, ImportGrants, ToolGrant, ToolGrants } from './host-grants.js'
export { defineConstraint } from './host-constraints.js'
export type { Constraint, ConstraintDefinition } from './host-constraints.js'
