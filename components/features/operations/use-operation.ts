"use client";

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useApi } from "@/components/features/session/use-api";
import { streamOperationEvents } from "@/lib/api-client/calls.gen";
import { isFinal } from "@/lib/core/status";
import { type Operation, type OperationEvent, operationQuery } from "./operation";

const POLL_MS = 2_000;

interface LiveEvents {
  readonly events: readonly OperationEvent[];
  /** False while the stream is closed; the operation is polled then. */
  readonly live: boolean;
}

/**
 * All past and new events of an operation. The stream reconnects by itself. `onEvent` must be the
 * same function in every render, because another function restarts the stream.
 */
const useOperationEvents = (operationId: string, onEvent: () => void): LiveEvents => {
  const api = useApi();
  const [state, setState] = useState<LiveEvents>({ events: [], live: false });
  useEffect(() => {
    const controller = new AbortController();
    const bySeq = new Map<number, OperationEvent>();
    const read = async (): Promise<void> => {
      const stream = api.events(streamOperationEvents, {
        params: { id: operationId },
        signal: controller.signal,
      });
      for await (const { data } of stream) {
        bySeq.set(data.seq, data);
        setState({ events: [...bySeq.values()].sort((a, b) => a.seq - b.seq), live: true });
        onEvent();
      }
    };
    read()
      // The error is ignored. The record itself is polled, so without the stream only the times of
      // the steps are missing.
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
 * One operation, kept current until it is final. Each event of its stream reloads the record.
 * Confirmation counts are not events, so the record is also polled.
 */
export const useOperation = (operationId: string): OperationView => {
  const queryClient = useQueryClient();
  const query = useQuery({
    ...operationQuery(operationId),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isFinal(state.data.status) ? false : POLL_MS,
  });
  const [refetch] = useState(
    () => () => void queryClient.invalidateQueries(operationQuery(operationId)),
  );
  const { events, live } = useOperationEvents(operationId, refetch);
  return { query, events, live };
};
