"use client";

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { getOperation, streamOperationEvents } from "@/lib/api-client/calls.gen";
import { isFinal } from "@/lib/core/status";
import type { Operation, OperationEvent } from "./types";

const POLL_MS = 2_000;

interface LiveEvents {
  readonly events: readonly OperationEvent[];
  /** False while the stream is not there; polling does its work then. */
  readonly live: boolean;
}

/** All events of an operation so far and from now on; over lost connections. `onEvent` must keep its identity. */
const useOperationEvents = (operationId: string, onEvent: () => void): LiveEvents => {
  const api = useApi();
  const [state, setState] = useState<LiveEvents>({ events: [], live: false });
  useEffect(() => {
    const controller = new AbortController();
    const bySeq = new Map<number, OperationEvent>();
    const read = async (): Promise<void> => {
      const stream = api.events(streamOperationEvents, { params: { id: operationId }, signal: controller.signal });
      for await (const { data } of stream) {
        bySeq.set(data.seq, data);
        setState({ events: [...bySeq.values()].sort((a, b) => a.seq - b.seq), live: true });
        onEvent();
      }
    };
    read()
      // The record itself is polled, so a stream that is refused costs only the times of the steps.
      .catch(() => undefined)
      .finally(() => {
        if (controller.signal.aborted) return;
        setState(({ events }) => ({ events, live: false }));
        onEvent();
      });
    return () => controller.abort();
  }, [api, operationId, onEvent]);
  return state;
};

export interface OperationView {
  readonly query: UseQueryResult<Operation>;
  readonly events: readonly OperationEvent[];
  readonly live: boolean;
}

/**
 * One operation, live until it is final: each event of its stream asks for the record again, and counts of confirmations, which
 * are no events, come by polling.
 */
export const useOperation = (operationId: string): OperationView => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [queryKey] = useState(() => queryKeyOf(getOperation, { params: { id: operationId } }));
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.call(getOperation, { params: { id: operationId }, signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isFinal(state.data.status) ? false : POLL_MS),
  });
  const [refetch] = useState(() => () => void queryClient.invalidateQueries({ queryKey }));
  const { events, live } = useOperationEvents(operationId, refetch);
  return { query, events, live };
};
