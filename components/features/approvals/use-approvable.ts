"use client";

import { useState } from "react";
import { ApiError } from "@/lib/api-client/client";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";

/** A change that the service carries out once the person has approved it. */
export interface AskedApproval {
  readonly approvalId: string;
  /** The text that describes the whole change. A wallet signs this text. */
  readonly message: string;
  readonly expiresAt: string;
}

/** How the person approves: a mailed code, a second factor, or the wallet's signature. */
export type Means =
  | { readonly otp: string }
  | { readonly totp: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: PasskeyAssertion }
  | { readonly signature: string };

/** The approval that is added to the request when it is sent again. */
export type GivenApproval = { readonly approvalId: string } & Means;

const askedBy = (error: unknown): AskedApproval | null => {
  if (!(error instanceof ApiError) || error.code !== "approval_required") return null;
  const { approvalId, expiresAt } = error.body as { approvalId: string; expiresAt: string };
  return { approvalId, expiresAt, message: error.message };
};

export interface Approvable<Input> {
  /** Null until the service asks for an approval. */
  readonly asked: AskedApproval | null;
  /** The approval before this one had expired, or the change was another meanwhile. */
  readonly isRenewed: boolean;
  readonly error: unknown;
  readonly busy: boolean;
  /** Sends the request. */
  readonly start: (input: Input) => Promise<void>;
  /** Sends the same request again, approved. True once it was carried out. */
  readonly approve: (means: Means) => Promise<boolean>;
  /** Asks for another approval of the same request. */
  readonly renew: () => Promise<void>;
  /** Back to before the request. */
  readonly reset: () => void;
}

/**
 * A request that may need an approval. The input is kept as it was sent: the approval is for exactly that.
 * @param send sends the request and does what follows its success
 */
export const useApprovable = <Input>(
  send: (input: Input, approval?: GivenApproval) => Promise<void>,
): Approvable<Input> => {
  const [waiting, setWaiting] = useState<{ input: Input; asked: AskedApproval; isRenewed: boolean } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const run = async (input: Input, approval?: GivenApproval): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await send(input, approval);
      setWaiting(null);
      return true;
    } catch (failure) {
      const asked = askedBy(failure);
      if (asked === null) setError(failure);
      else setWaiting({ input, asked, isRenewed: approval !== undefined });
      return false;
    } finally {
      setBusy(false);
    }
  };

  return {
    asked: waiting?.asked ?? null,
    isRenewed: waiting?.isRenewed ?? false,
    error,
    busy,
    start: async (input) => {
      await run(input);
    },
    approve: (means) =>
      waiting === null
        ? Promise.resolve(false)
        : run(waiting.input, { approvalId: waiting.asked.approvalId, ...means }),
    renew: async () => {
      if (waiting !== null) await run(waiting.input);
    },
    reset: () => {
      setWaiting(null);
      setError(null);
    },
  };
};
