"use client";

import { useEffect, useRef, useState } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import {
  type Action,
  movedMoney,
  mustBeMined,
  signaturesOf,
  type Signed,
  type SigningStep,
  stepsOf,
  type StepState,
} from "./signing-model";

export interface Signing {
  readonly steps: readonly SigningStep[];
  /** Whether a wallet is signing or a transaction is being confirmed. */
  readonly busy: boolean;
  /**
   * Whether money has left a wallet. The remaining steps must then be finished and not started
   * again.
   */
  readonly moved: boolean;
  /** Loads the actions of a new preparation, and keeps earlier results that are still valid. */
  readonly load: (actions: readonly Action[]) => void;
  readonly clear: () => void;
  /**
   * Asks the wallets to sign, beginning with the first open step. Resolves with the signatures for
   * execute, or with null when a step stopped or `mayAsk` returned false before a step.
   */
  readonly run: (mayAsk: (moved: boolean) => boolean) => Promise<readonly Signed[] | null>;
  /** Marks a step whose signature the service refused, so that it is signed again. */
  readonly refuse: (actionId: string, reason: string) => void;
}

/** Signs with the person's wallets, step by step. The state outlives the dialog that shows it. */
export const useSigning = (): Signing => {
  const publicConfig = usePublicConfig();
  const [steps, setSteps] = useState<readonly SigningStep[]>([]);
  const [busy, setBusy] = useState(false);
  // `run` reads its own writes through `latest`. A newer run or load changes `runId`, which
  // invalidates an older run.
  const latest = useRef(steps);
  const runId = useRef(0);
  const write = (next: readonly SigningStep[]): void => {
    latest.current = next;
    setSteps(next);
  };
  const mark = (actionId: string, at: StepState): void =>
    write(
      latest.current.map((step) =>
        step.action.id === actionId && !step.kept ? { ...step, at } : step,
      ),
    );
  const moved = movedMoney(steps);

  const run = async (
    mayAsk: (moved: boolean) => boolean,
  ): Promise<readonly Signed[] | null> => {
    const id = ++runId.current;
    const current = (): boolean => id === runId.current;
    setBusy(true);
    try {
      if (latest.current.every(({ at }) => at.state === "done"))
        return signaturesOf(latest.current);
      // The wallet libraries are loaded only when a wallet must sign.
      const { runStep } = await import("./run-step");
      for (const [index, step] of latest.current.entries()) {
        if (latest.current[index]?.at.state === "done") continue;
        if (!current() || !mayAsk(movedMoney(latest.current))) return null;
        const tell = (at: StepState): void => {
          if (current()) mark(step.action.id, at);
        };
        if (
          !(await runStep(publicConfig, step, {
            mined: mustBeMined(latest.current, index),
            tell,
          }))
        )
          return null;
      }
      return current() ? signaturesOf(latest.current) : null;
    } finally {
      if (current()) setBusy(false);
    }
  };

  useEffect(() => {
    if (!moved) return undefined;
    // A transaction was sent that no operation tracks yet, so the browser asks before the person
    // leaves the page.
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
