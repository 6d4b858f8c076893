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

/** A change that the service carries out once the person has approved it. */
export interface AskedApproval {
  readonly approvalId: string;
  /** The text that describes the whole change. A wallet signs this text. */
  readonly message: string;
  readonly expiresAt: string;
  /** Proofs that the change takes. */
  readonly proofs: readonly Proof[];
}

/** How the person approves: a mailed code, a second factor, or the wallet's signature. */
export type Means =
  | { readonly otp: string }
  | { readonly totp: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: PasskeyAssertion }
  | { readonly signature: string };

/** The approval that is added to the request when it is sent again. */
type GivenApproval = { readonly approvalId: string } & Means;

/** The part of a request's body that says how it was approved; empty before that. */
export interface Proven {
  readonly approval?: GivenApproval;
}

const askedBy = (error: unknown): AskedApproval | null => {
  if (!(error instanceof ApiError) || error.code !== "approval_required") return null;
  const { approvalId, expiresAt, proofs } = error.body as Omit<AskedApproval, "message">;
  return { approvalId, expiresAt, proofs, message: error.message };
};

export interface Approvable<Input> {
  /** Null until the service asks for an approval. */
  readonly asked: AskedApproval | null;
  /** The previous approval had expired, or the change was edited in the meantime. */
  readonly isRenewed: boolean;
  readonly error: unknown;
  readonly busy: boolean;
  /** Sends the request. */
  readonly start: (input: Input) => Promise<void>;
  /** Sends the same request with the approval. Resolves with true once it was carried out. */
  readonly approve: (means: Means) => Promise<boolean>;
  /** Requests another approval of the same request. */
  readonly renew: () => Promise<void>;
  /** Drops the request and its error. */
  readonly reset: () => void;
}

interface Waiting<Input> {
  readonly input: Input;
  readonly asked: AskedApproval;
  readonly isRenewed: boolean;
}

/** The open approval, which the tab stores over a reload. */
const useWaiting = <Input>(keptAs: string) => {
  const owner = useApprovalOwner();
  const [waiting, setWaiting] = useState<Waiting<Input> | null>(null);
  useEffect(() => {
    if (owner === undefined) return undefined;
    const kept = readKeptApproval(keptAs, owner);
    if (kept !== null) {
      markKeptApproval(keptAs, true);
      // Only this hook stores under this name, so the input belongs to the same request. The
      // service checks input and approval again.
      setWaiting(
        (now) => now ?? { input: kept.input as Input, asked: kept.asked, isRenewed: false },
      );
    }
    // A reload does not run this clean-up, so the approval then still counts as open.
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
 * A request that may need an approval. The approval is for exactly the input that was sent, so the
 * input is stored with it. An open approval survives a reload, after which `useReopen` opens its
 * dialog again.
 * @param keptAs names the request and its object in this tab
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
