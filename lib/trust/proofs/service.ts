/**
 * How a person proves that a movement or a change is theirs: a mailed code, an authenticator app, a
 * recovery code, a passkey, or a signature of the wallet. `approvals` binds a proof to one change.
 */
export {
  heldUntil,
  quoted,
  type ApprovalsService,
  type Approved,
  type Change,
  type GivenApproval,
  type Proven,
} from "./approvals";
export type { CodeLimits } from "./code-limits";
export { toOtpSent } from "./serializer";
export type { CodeChannel, CodeMeans, OtpSent, OtpService } from "./codes";
