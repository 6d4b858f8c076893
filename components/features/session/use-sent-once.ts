"use client";

import type { UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";
import { ApiError, type CallOptions } from "@/lib/api-client/client";
import type { Callable, ResponseOf } from "@/lib/contracts/contract";
import { useApiMutation } from "./use-api";

interface SentOnce<C extends Callable> {
  readonly mutation: UseMutationResult<ResponseOf<C>, Error, CallOptions<C>>;
  /** @throws ApiError */
  readonly send: (input: CallOptions<C>) => Promise<ResponseOf<C>>;
}

const NONE = { text: "", key: "" };

/**
 * A POST that must not count twice. A request without an answer may have been carried out, so the same input sent again has the same
 * idempotency key; an answer, also a refusal, ends that.
 */
export const useSentOnce = <C extends Callable>(contract: C): SentOnce<C> => {
  const mutation = useApiMutation(contract);
  const last = useRef(NONE);
  const send = async (input: CallOptions<C>): Promise<ResponseOf<C>> => {
    const text = JSON.stringify(input);
    if (text !== last.current.text) last.current = { text, key: crypto.randomUUID() };
    try {
      const answer = await mutation.mutateAsync({ ...input, idempotencyKey: last.current.key });
      last.current = NONE;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 0) last.current = NONE;
      throw error;
    }
  };
  return { mutation, send };
};
