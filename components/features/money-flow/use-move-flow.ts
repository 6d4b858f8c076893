"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useApi, useCache } from "@/components/features/session/use-api";
import { type Signing, useSigning } from "@/components/features/signing/use-signing";
import {
  executeSwap,
  getUnifiedBalances,
  listOperations,
  prepareSwap,
} from "@/lib/api-client/calls.gen";
import {
  createMoveStore,
  type Flow,
  keepFlow,
  keptFlowOf,
  type MovePorts,
  type MoveState,
  type MoveStore,
} from "./move-flow";
import type { MoveSubject } from "./types";

/**
 * The only hook by which a person moves money:
 *
 *   const flow = useMoveFlow({ onDone });   // beside the form; closing the dialog keeps its state
 *   flow.start(subject);                    // a quote or a transfer, as a `MoveSubject` (./types)
 *   <MoveDialog flow={flow} onNewQuote={…} onMoved={…} />
 *
 * `subjectOfQuote` (swap/quote-subject) makes the subject of a quote, also of a quote that retries
 * an operation. A transfer has `ids: {transferId}` and its own `receipt`. After execution the page
 * of the operation opens by itself.
 */

export interface MoveFlow extends Omit<MoveStore, "getState" | "subscribe"> {
  readonly flow: Flow | null;
  readonly open: boolean;
  readonly signing: Signing;
  readonly preparing: boolean;
  readonly executing: boolean;
  readonly prepareError: unknown;
  readonly executeError: unknown;
}

interface MoveFlowOptions {
  /** Called before the page of the operation opens. */
  readonly onDone?: (operationId: string) => void;
  /**
   * How the flow is stored over a reload: the key, and a function that restores the subject. The
   * function returns null for the stored subject of another person.
   */
  readonly kept?: {
    readonly key: string;
    readonly revive: (stored: unknown) => MoveSubject | null;
  };
}

const usePorts = ({ onDone }: MoveFlowOptions, signing: Signing): MovePorts => {
  const router = useRouter();
  const cache = useCache();
  const api = useApi();
  return {
    prepare: (body) => api.call(prepareSwap, { body }),
    execute: (body, idempotencyKey) => api.call(executeSwap, { body, idempotencyKey }),
    signing,
    onDone: (operationId) => {
      void cache.refresh(listOperations, getUnifiedBalances);
      onDone?.(operationId);
      router.push(`/activity/${operationId}`);
    },
    now: Date.now,
    newKey: () => crypto.randomUUID(),
  };
};

interface Now {
  readonly state: MoveState;
  readonly hasMoved: boolean;
}

const useKept = (
  kept: MoveFlowOptions["kept"],
  store: MoveStore,
  { state, hasMoved }: Now,
): void => {
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const found = kept === undefined ? null : keptFlowOf(kept.key).read();
    const subject = found === null ? null : (kept?.revive(found.stored) ?? null);
    if (found !== null && subject !== null) store.restore(subject, found);
    setIsRead(true);
  }, []);
  useEffect(() => {
    if (isRead && kept !== undefined) keepFlow(kept.key, state, hasMoved);
  }, [isRead, kept?.key, state, hasMoved]);
};

export const useMoveFlow = (options: MoveFlowOptions = {}): MoveFlow => {
  const signing = useSigning();
  const ports = usePorts(options, signing);
  // The store lives as long as the page, so it calls the ports of the latest render.
  const latest = useRef(ports);
  useEffect(() => {
    latest.current = ports;
  });
  const [store] = useState(() =>
    createMoveStore({
      prepare: (body) => latest.current.prepare(body),
      execute: (body, key) => latest.current.execute(body, key),
      signing: {
        load: (actions) => latest.current.signing.load(actions),
        clear: () => latest.current.signing.clear(),
        run: (mayAsk) => latest.current.signing.run(mayAsk),
        refuse: (actionId, reason) => latest.current.signing.refuse(actionId, reason),
      },
      onDone: (operationId) => latest.current.onDone(operationId),
      now: Date.now,
      newKey: ports.newKey,
    }),
  );
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getState);
  useKept(options.kept, store, { state, hasMoved: signing.moved });
  return {
    ...store,
    flow: state.flow,
    open: state.open,
    signing,
    preparing: state.preparing.pending,
    // `done` keeps this true until the page of the operation opens.
    executing: signing.busy || state.executing.pending || state.done,
    prepareError: state.preparing.error,
    executeError: state.executing.error,
  };
};
