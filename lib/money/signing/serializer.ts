import type { getMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { SigningState } from "./service";

/** The response's field about signing; null while signing is allowed. */
export const toSigningOff = (state: SigningState): ResponseOf<typeof getMe>["signingOff"] =>
  state.isAllowed ? null : { since: state.since.toISOString(), reason: state.reason };
