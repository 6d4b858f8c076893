import { z } from "zod";
import { otp, sixDigits } from "./common";
import { passkeyAssertion, type PasskeyAssertion } from "./passkey-records";

const RECOVERY_CODE_LENGTH_MAX = 40;

export const totp = sixDigits.meta({
  id: "AuthenticatorCode",
  description:
    "Code of the person's authenticator app (RFC 6238): six digits, each good once. Persons alone",
  examples: ["123456"],
});

export const recoveryCode = z
  .string()
  .min(1)
  .max(RECOVERY_CODE_LENGTH_MAX)
  .meta({
    id: "RecoveryCode",
    description:
      "One of the ten codes that were shown with the authenticator app; each is good once. It only replaces a lost factor, and the new factor approves nothing for 24 hours",
    examples: ["abcd-efgh-ijkl-mnop"],
  });

/** A person's proof that is neither a mailed code nor a wallet signature. */
export type SecondFactor =
  | { readonly totp: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: PasskeyAssertion };

/** A mailed code, or another factor instead. */
export type GivenCode = string | SecondFactor;

interface ProofFields {
  readonly otp?: string | undefined;
  readonly totp?: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
}

export const proofFields = {
  otp: otp.optional(),
  totp: totp
    .optional()
    .meta({ description: "In place of otp: the code of the person's authenticator app" }),
  passkey: passkeyAssertion.optional().meta({
    description:
      "In place of otp: the person's passkey over the challenge of POST /swap/request-otp",
  }),
};

export const givenCode = (given: ProofFields): GivenCode | undefined => {
  if (given.otp !== undefined) return given.otp;
  if (given.totp !== undefined) return { totp: given.totp };
  if (given.passkey !== undefined) return { passkey: given.passkey };
  return given.recoveryCode === undefined ? undefined : { recoveryCode: given.recoveryCode };
};

/**
 * Returns the proof of a request whose contract requires one.
 * @throws Error when the proof is missing, which is a defect of the contract
 */
export const requiredCode = (given: ProofFields): GivenCode => {
  const code = givenCode(given);
  if (code === undefined) throw new Error("The contract lets a request without a proof pass.");
  return code;
};

const countOf = ({ otp: code, totp: app, passkey }: ProofFields): number =>
  [code, app, passkey].filter((each) => each !== undefined).length;

export const hasOneProof = (given: ProofFields): boolean => countOf(given) === 1;
export const hasOneProofAtMost = (given: ProofFields): boolean => countOf(given) <= 1;
export const oneProofMessage = { message: "give one of otp, totp and passkey", path: ["otp"] };
