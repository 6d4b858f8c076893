"use client";

import { useEffect, useRef, useState } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { movedMoney, mustBeMined, signaturesOf, stepsOf } from "./signing-model";
import type { Action, Signed, SigningStep, StepState } from "./types";

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

/** Asks the wallets of the person step by step. Its state outlives the dialog that shows it. */
export const useSigning = (): Signing => {
  const publicConfig = usePublicConfig();
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
      if (latest.current.every(({ at }) => at.state === "done")) return signaturesOf(latest.current);
      // The wallet libraries are loaded when a wallet is asked.
      const { runStep } = await import("./run-step");
      for (const [index, step] of latest.current.entries()) {
        if (latest.current[index]?.at.state === "done") continue;
        if (!current() || !mayAsk(movedMoney(latest.current))) return null;
        const tell = (at: StepState): void => {
          if (current()) mark(step.action.actionId, at);
        };
        if (!(await runStep(publicConfig, step, { mined: mustBeMined(latest.current, index), tell }))) return null;
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
