"use client";

import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { useApi } from "@/components/features/session/use-api";
import { streamChanges } from "@/lib/api-client/calls.gen";
import { createChangeStream } from "./change-stream";
import { changedKeys } from "./changed-keys";
import { createCoalescer } from "./coalesce";
import { LiveStateContext, type LiveState } from "./live-state";

const ONCE_PER_MS = 1_000;

/**
 * Opens one connection per tab, which replaces polling. When the service reports a change, the
 * visible answers are loaded again and other cached answers are marked as stale.
 */
export const LiveProvider = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>("starting");
  useEffect(() => {
    const old = createCoalescer(
      (queryKey: QueryKey) => void queryClient.invalidateQueries({ queryKey }),
      {
        everyMs: ONCE_PER_MS,
      },
    );
    const stream = createChangeStream({
      open: (lastEventId, signal) =>
        api.events(streamChanges, {
          signal,
          ...(lastEventId === null ? {} : { headers: { "last-event-id": lastEventId } }),
        }),
      onChanges: (changes) => {
        for (const change of changes) for (const key of changedKeys(change)) old.mark(key);
      },
      onState: setState,
      isHidden: () => document.visibilityState === "hidden",
    });
    document.addEventListener("visibilitychange", stream.look);
    return () => {
      document.removeEventListener("visibilitychange", stream.look);
      stream.stop();
      old.stop();
    };
  }, [api, queryClient]);
  return <LiveStateContext.Provider value={state}>{children}</LiveStateContext.Provider>;
};
