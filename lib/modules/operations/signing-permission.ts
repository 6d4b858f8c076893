import type { PolicyEngine } from "@/lib/modules/policies/service";
import type { Failure } from "./leg";
import type { Operation } from "./operation";
import { parametersDigest } from "./parameters";

/** Why an operation that was changed or stored past the policies is never signed. */
export const NOT_EVALUATED: Failure = {
  code: "policy_violation",
  message:
    "The policies have not allowed this operation as it is stored, so it was not signed. Nothing left the wallet. Start it again; tell the operator of the service when it happens again.",
  retryable: true,
};

/** Makes the signer's check: whether the policies allowed an operation with exactly the parameters that would be signed now. */
export const createSigningPermission =
  ({ isAllowed }: Pick<PolicyEngine, "isAllowed">) =>
  (operation: Operation): Promise<boolean> => {
    const { id, projectId, evaluationId, legs } = operation;
    return isAllowed(projectId, evaluationId, { id, digest: parametersDigest(operation, legs) });
  };
