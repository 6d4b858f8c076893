"use client";

import { useEffect, useState } from "react";
import { ApiError } from "@/lib/api-client/client";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import { dropKeptApproval, keepApproval, markKeptApproval, readKeptApproval } from "./kept-approval";
import { useApprovalOwner } from "./use-reopen";

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

interface Waiting<Input> {
  readonly input: Input;
  readonly asked: AskedApproval;
  readonly isRenewed: boolean;
}

/** The approval that waits, as the tab keeps it over a reload. */
const useWaiting = <Input>(keptAs: string) => {
  const owner = useApprovalOwner();
  const [waiting, setWaiting] = useState<Waiting<Input> | null>(null);
  useEffect(() => {
    if (owner === undefined) return undefined;
    const kept = readKeptApproval(keptAs, owner);
    if (kept !== null) {
      markKeptApproval(keptAs, true);
      // Kept under this name by this hook alone, so it is an input of the same request. The service checks it, and what it approves, anew.
      setWaiting((now) => now ?? { input: kept.input as Input, asked: kept.asked, isRenewed: false });
    }
    // Not called for a reload: the approval then counts as open.
    return () => markKeptApproval(keptAs, false);
  }, [keptAs, owner]);
  const set = (next: Waiting<Input> | null): void => {
    setWaiting(next);
    if (next === null) dropKeptApproval(keptAs);
    else if (owner !== undefined) keepApproval(keptAs, { owner, asked: next.asked, input: next.input, open: true });
  };
  return [waiting, set] as const;
};

/**
 * A request that may need an approval. The input is kept as it was sent: the approval is for exactly that. An approval that waits survives a
 * reload; a dialog that is closed by then opens again by `useReopen`.
 * @param keptAs names the request and its object, in this tab
 * @param send sends the request and does what follows its success
 */
export const useApprovable = <Input>(
  keptAs: string,
  send: (input: Input, approval?: GivenApproval) => Promise<void>,
): Approvable<Input> => {
  const [waiting, setWaiting] = useWaiting<Input>(keptAs);
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
