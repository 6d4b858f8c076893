"use client";

import { useEffect, useState } from "react";
import { ApiError } from "@/lib/api-client/client";
import type { Proof } from "@/lib/contracts/approvable-changes";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import {
  dropKeptApproval,
  keepApproval,
  markKeptApproval,
  readKeptApproval,
  useApprovalOwner,
} from "./kept-approval";

/** An approval that the service requires before it makes a change. */
export interface AskedApproval {
  readonly approvalId: string;
  /** Describes the complete change. A wallet signs this text. */
  readonly message: string;
  readonly expiresAt: string;
  /** Kinds of proof that the service accepts for this change. */
  readonly proofs: readonly Proof[];
}

export type Means =
  | { readonly otp: string }
  | { readonly totp: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: PasskeyAssertion }
  | { readonly signature: string };

type GivenApproval = { readonly approvalId: string } & Means;

/** The field of a request's body that contains the approval; absent in the first request. */
export interface Proven {
  readonly approval?: GivenApproval;
}

const askedBy = (error: unknown): AskedApproval | null => {
  if (!(error instanceof ApiError) || error.code !== "approval_required") return null;
  const { approvalId, expiresAt, proofs } = error.body as Omit<AskedApproval, "message">;
  return { approvalId, expiresAt, proofs, message: error.message };
};

export interface Approvable<Input> {
  /** Null until the service requires an approval. */
  readonly asked: AskedApproval | null;
  /**
   * Whether this approval replaces an approval that had expired, or whose change was edited in the
   * meantime.
   */
  readonly isRenewed: boolean;
  readonly error: unknown;
  readonly busy: boolean;
  readonly start: (input: Input) => Promise<void>;
  /**
   * Sends the request again with the approval. Resolves with true when the service has made the
   * change.
   */
  readonly approve: (means: Means) => Promise<boolean>;
  /** Sends the request again without a proof, so that the service creates a new approval. */
  readonly renew: () => Promise<void>;
  readonly reset: () => void;
}

interface Waiting<Input> {
  readonly input: Input;
  readonly asked: AskedApproval;
  readonly isRenewed: boolean;
}

/** The open approval, which is stored in the tab so that it survives a reload. */
const useWaiting = <Input>(keptAs: string) => {
  const owner = useApprovalOwner();
  const [waiting, setWaiting] = useState<Waiting<Input> | null>(null);
  useEffect(() => {
    if (owner === undefined) return undefined;
    const kept = readKeptApproval(keptAs, owner);
    if (kept !== null) {
      markKeptApproval(keptAs, true);
      // Only this hook writes this key, so the stored input belongs to this kind of request. The
      // service checks the input and the approval again.
      setWaiting(
        (now) => now ?? { input: kept.input as Input, asked: kept.asked, isRenewed: false },
      );
    }
    // A reload does not run this clean-up, so the stored approval stays marked as open.
    return () => markKeptApproval(keptAs, false);
  }, [keptAs, owner]);
  const set = (next: Waiting<Input> | null): void => {
    setWaiting(next);
    if (next === null) dropKeptApproval(keptAs);
    else if (owner !== undefined)
      keepApproval(keptAs, {
        owner,
        asked: { ...next.asked, proofs: [...next.asked.proofs] },
        input: next.input,
        open: true,
      });
  };
  return [waiting, set] as const;
};

/**
 * A request that may need an approval. The approval is valid only for the sent input, so both are
 * stored together. An open approval survives a reload; `useReopen` then opens its dialog again.
 * @param keptAs key in the tab's storage; identifies the kind of request and its object
 * @param send sends the request with the proof, then updates the page
 */
export const useApprovable = <Input>(
  keptAs: string,
  send: (input: Input, proof: Proven) => Promise<void>,
): Approvable<Input> => {
  const [waiting, setWaiting] = useWaiting<Input>(keptAs);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const run = async (input: Input, approval?: GivenApproval): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await send(input, approval === undefined ? {} : { approval });
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
