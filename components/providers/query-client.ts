import { QueryClient } from "@tanstack/react-query";
import { describeError } from "@/components/ui/describe-error";

const STALE_MS = 5_000;
const RETRIES_MAX = 2;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 5_000;

/** Whether to ask again: there was no answer, or the answer may differ in a moment. */
const isPassing = (error: unknown): boolean => {
  const { offline, code } = describeError(error);
  return offline || code === "chain_unavailable" || code === "provider_error" || code === "rate_limited";
};

export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        retry: (failures, error) => failures < RETRIES_MAX && isPassing(error),
        retryDelay: (attempt) => Math.min(RETRY_BASE_MS * 2 ** attempt, RETRY_MAX_MS),
      },
      // A POST is repeated only by a person, with the same idempotency key.
      mutations: { retry: false },
    },
  });
