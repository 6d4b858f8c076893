import { z } from "zod";
import { id, walletSignature, otp } from "./common";
import type { ErrorCode } from "@/lib/core/errors";
import { passkeyAssertion } from "./passkey-records";
import { recoveryCode, totp } from "./proofs";

/**
 * The field `approval` of a request that extends authority. The request without it gets the 409
 * `approval_required`, which contains the approval's id.
 */
export const givenApproval = z
  .object({
    approvalId: id("apr").meta({ description: "Id of the 409 `approval_required`" }),
    otp: otp
      .optional()
      .meta({ description: "The code that POST /swap/request-otp {approvalId} sends" }),
    totp: totp.optional(),
    recoveryCode: recoveryCode.optional().meta({
      description:
        "Only for changes that replace a lost factor; the 409 names the proofs that a change takes in `proofs`",
    }),
    passkey: passkeyAssertion.optional().meta({
      description:
        "Over the challenge of POST /swap/request-otp {approvalId, channel: passkey}",
    }),
    signature: walletSignature.optional().meta({
      description:
        "Over `message` of the 409 (EIP-191 personal_sign), by the wallet that the person signs in with; ERC-1271 and ERC-6492 too",
    }),
  })
  .refine(
    ({ otp: code, totp: app, recoveryCode: recovery, passkey, signature }) =>
      [code, app, recovery, passkey, signature].filter((proof) => proof !== undefined)
        .length === 1,
    { message: "give one of otp, totp, recoveryCode, passkey and signature", path: ["otp"] },
  )
  .meta({
    id: "GivenApproval",
    description: "The approval of exactly this request; good once, for 10 minutes",
  });

export const APPROVAL_ERRORS = [
  "approval_required",
  "invalid_state",
  "invalid_signature",
  "otp_required",
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
  "chain_unavailable",
] as const satisfies readonly ErrorCode[];
