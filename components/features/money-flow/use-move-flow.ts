"use client";

/**
 * The one way in which a person moves money:
 *
 *   const flow = useMoveFlow({ onDone });           // beside the form; its state outlives the dialog
 *   flow.start(subject);                            // a quote or a transfer, as a `MoveSubject` (./types)
 *   <MoveDialog flow={flow} onNewQuote={…} onMoved={…} />
 *
 * `subjectOfQuote` (swap/quote-subject) makes the subject of a quote, also of one that retries an operation. For a transfer give
 * `ids: {transferId}` and a `receipt` of your own. After execute the page of the operation opens by itself.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { useSigning, type Signing } from "@/components/features/signing/use-signing";
import { executeSwap, getUnifiedBalances, listOperations, prepareSwap, requestOtp } from "@/lib/api-client/calls.gen";
import { keepFlow, readKeptFlow } from "./kept-flow";
import { createMoveStore, type Flow, type MovePorts, type MoveState, type MoveStore } from "./move-flow";
import type { MoveSubject } from "./types";

export interface MoveFlow extends Omit<MoveStore, "getState" | "subscribe"> {
  readonly flow: Flow | null;
  readonly open: boolean;
  readonly signing: Signing;
  readonly sending: boolean;
  readonly preparing: boolean;
  readonly executing: boolean;
  readonly sendError: unknown;
  readonly prepareError: unknown;
  readonly executeError: unknown;
}

interface MoveFlowOptions {
  /** Before the page of the operation opens. */
  readonly onDone?: (operationId: string) => void;
  /** Under which name the flow survives a reload, and how its subject is made again; null where it is somebody else's. */
  readonly kept?: { readonly key: string; readonly revive: (stored: unknown) => MoveSubject | null };
}

const usePorts = ({ onDone }: MoveFlowOptions, signing: Signing): MovePorts => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const api = useApi();
  return {
    requestOtp: (ids) => api.call(requestOtp, { body: ids }),
    prepare: (body) => api.call(prepareSwap, { body }),
    execute: (body, idempotencyKey) => api.call(executeSwap, { body, idempotencyKey }),
    signing,
    onDone: (operationId) => {
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(getUnifiedBalances) });
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

/** Reads the kept flow once, after the first drawing; then keeps each change. */
const useKept = (kept: MoveFlowOptions["kept"], store: MoveStore, { state, hasMoved }: Now): void => {
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const found = kept === undefined ? null : readKeptFlow(kept.key);
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
  // The store lives as long as the page; it reaches what the newest rendering was given.
  const latest = useRef(ports);
  useEffect(() => {
    latest.current = ports;
  });
  const [store] = useState(() =>
    createMoveStore({
      requestOtp: (ids) => latest.current.requestOtp(ids),
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
    sending: state.sending.pending,
    preparing: state.preparing.pending,
    // Until the page of the operation is there.
    executing: signing.busy || state.executing.pending || state.done,
    sendError: state.sending.error,
    prepareError: state.preparing.error,
    executeError: state.executing.error,
  };
};
