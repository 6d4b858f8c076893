"use client";

import { useEffect, useRef, useState } from "react";
import { useConfig, type Config } from "wagmi";
import { isSignature, movedMoney, mustBeMined, signaturesOf, stepsOf } from "./signing-model";
import type { Action, Signed, SigningStep, StepState } from "./types";
import { askWallet, connectorWith, isRejection, reasonOf, untilMined } from "./wallet-access";

export interface Signing {
  readonly steps: readonly SigningStep[];
  /** A wallet is asked, or a transaction is waited for. */
  readonly busy: boolean;
  /** Money has left a wallet already: the remaining steps must be finished, not started again. */
  readonly moved: boolean;
  /** Takes the actions of a new preparation, and keeps what of the earlier ones is still good. */
  readonly load: (actions: readonly Action[]) => void;
  /** Forgets everything. */
  readonly clear: () => void;
  /**
   * Asks the wallets, from the first step that is not done. Resolves with what execute takes, or with null when a step stopped it
   * or `mayAsk` said no before a step.
   */
  readonly run: (mayAsk: (moved: boolean) => boolean) => Promise<readonly Signed[] | null>;
  /** Marks a step whose signature the service did not take, so that it is asked for again. */
  readonly refuse: (actionId: string, reason: string) => void;
}

type Tell = (at: StepState) => void;

const REVERTED = "the transaction was reverted. Only its network fee was spent.";
const NOT_SEEN = "the chain does not show the transaction yet. Going on waits for it; it is not sent twice.";

/** Ends the step of a sent transaction. With `mined`, waits until the chain has mined it, because the next step depends on it. @returns false when it failed */
const settleTransaction = async (
  config: Config,
  { actionId, chainId }: Action,
  { txHash, mined, tell }: { readonly txHash: string; readonly mined: boolean; readonly tell: Tell },
): Promise<boolean> => {
  if (!mined) {
    tell({ state: "done", signed: { actionId, txHash } });
    return true;
  }
  tell({ state: "mining", txHash });
  try {
    const minedHash = await untilMined(config, chainId, txHash);
    tell(
      minedHash === null
        ? { state: "failed", reason: REVERTED }
        : { state: "done", signed: { actionId, txHash: minedHash } },
    );
    return minedHash !== null;
  } catch {
    tell({ state: "failed", reason: NOT_SEEN, txHash });
    return false;
  }
};

/** One step: true when it is done. */
const runStep = async (
  config: Config,
  { action, at }: SigningStep,
  { mined, tell }: { readonly mined: boolean; readonly tell: Tell },
): Promise<boolean> => {
  if (at.state === "failed" && at.txHash !== undefined) {
    return settleTransaction(config, action, { txHash: at.txHash, mined, tell });
  }
  try {
    const connector = await connectorWith(config, action.signerAddress);
    if (connector === undefined) {
      tell({ state: "needs_account" });
      return false;
    }
    tell({ state: "asking" });
    const answer = await askWallet({ config, connector, action });
    if (!isSignature(action)) return await settleTransaction(config, action, { txHash: answer, mined, tell });
    tell({ state: "done", signed: { actionId: action.actionId, signature: answer } });
    return true;
  } catch (error) {
    tell(isRejection(error) ? { state: "rejected" } : { state: "failed", reason: reasonOf(error) });
    return false;
  }
};

/** Asks the wallets of the person step by step. Its state outlives the dialog that shows it. */
export const useSigning = (): Signing => {
  const config = useConfig();
  const [steps, setSteps] = useState<readonly SigningStep[]>([]);
  const [busy, setBusy] = useState(false);
  // The loop below reads what it wrote itself; a newer run or load makes an older one fall silent.
  const latest = useRef(steps);
  const runId = useRef(0);
  const write = (next: readonly SigningStep[]): void => {
    latest.current = next;
    setSteps(next);
  };
  const mark = (actionId: string, at: StepState): void =>
    write(latest.current.map((step) => (step.action.actionId === actionId && !step.kept ? { ...step, at } : step)));
  const moved = movedMoney(steps);

  const run = async (mayAsk: (moved: boolean) => boolean): Promise<readonly Signed[] | null> => {
    const id = ++runId.current;
    const current = (): boolean => id === runId.current;
    setBusy(true);
    try {
      for (const [index, step] of latest.current.entries()) {
        if (latest.current[index]?.at.state === "done") continue;
        if (!current() || !mayAsk(movedMoney(latest.current))) return null;
        const tell: Tell = (at) => {
          if (current()) mark(step.action.actionId, at);
        };
        if (!(await runStep(config, step, { mined: mustBeMined(latest.current, index), tell }))) return null;
      }
      return current() ? signaturesOf(latest.current) : null;
    } finally {
      if (current()) setBusy(false);
    }
  };

  useEffect(() => {
    if (!moved) return undefined;
    // A transaction is out that no operation follows yet.
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [moved]);

  const stop = (): void => {
    runId.current += 1;
    setBusy(false);
  };
  return {
    steps,
    busy,
    moved,
    load: (actions) => {
      stop();
      write(stepsOf(actions, latest.current));
    },
    clear: () => {
      stop();
      write([]);
    },
    run,
    refuse: (actionId, reason) => mark(actionId, { state: "failed", reason }),
  };
};
