"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { DepositRecord } from "@/components/features/deposits/words";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { getUnifiedBalances, listOperations, streamDeposits } from "@/lib/api-client/calls.gen";

const SHOWN_MAX = 50;
const AGAIN_MS = 5_000;

interface DepositStream {
  /** As they were told, by id. */
  readonly deposits: ReadonlyMap<string, DepositRecord>;
  /** False while the stream was lost and is not tried again yet. */
  readonly live: boolean;
}

/** The project's deposits as they are seen and change, over lost connections. */
export const useDepositStream = (): DepositStream => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [state, setState] = useState<DepositStream>({ deposits: new Map(), live: true });
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      for await (const { data } of api.events(streamDeposits, { signal: controller.signal })) {
        setState(({ deposits }) => {
          const others = [...deposits].filter(([id]) => id !== data.depositId).slice(1 - SHOWN_MAX);
          return { deposits: new Map([...others, [data.depositId, data]]), live: true };
        });
        if (data.state === "pending") continue;
        for (const contract of [listOperations, getUnifiedBalances])
          void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
      }
    };
    const keepReading = (): void => {
      void read()
        .catch(() => undefined)
        .finally(() => {
          if (controller.signal.aborted) return;
          setState(({ deposits }) => ({ deposits, live: false }));
          timer = setTimeout(() => {
            setState(({ deposits }) => ({ deposits, live: true }));
            keepReading();
          }, AGAIN_MS);
        });
    };
    keepReading();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [api, queryClient]);
  return state;
};
