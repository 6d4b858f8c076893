"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { listOperations } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, quoteRecord, requestOtp } from "@/lib/contracts/swap";
import { codeOf, extraOf } from "./field-errors";
import type { Prepared, Quote, SentCode } from "./types";

export interface Flow {
  readonly quote: Quote;
  readonly step: "code" | "review";
  readonly sent: SentCode | null;
  readonly code: string;
  /** The code was right: preparing again needs none. */
  readonly approved: boolean;
  readonly prepared: Prepared | null;
  /** One per lock of the price, so that an execution that got no answer can be repeated without moving the money twice. */
  readonly executeKey: string;
  /** A fresh quote, after the price moved below what was approved. */
  readonly moved: Quote | null;
}

const CODE_DIGITS = 6;

/** Whether the code is whole, or was right already. */
export const mayContinue = (flow: Flow): boolean =>
  flow.moved === null && (flow.approved || flow.code.length === CODE_DIGITS);

const begin = (quote: Quote): Flow => ({
  quote,
  step: "code",
  sent: null,
  code: "",
  approved: false,
  prepared: null,
  executeKey: "",
  moved: null,
});

/** Codes that say that the one-time code itself was not taken. */
const REFUSED_CODE: ReadonlySet<string> = new Set([
  "otp_required",
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
]);
/** Codes that say nothing about the one-time code, because it was not looked at. */
const NOT_LOOKED_AT: ReadonlySet<string> = new Set([
  "network_error",
  "quote_expired",
  "quote_already_used",
  "unauthorized",
  "rate_limited",
  "invalid_request",
  "not_found",
  "internal_error",
  "service_unavailable",
]);

const movedQuoteOf = (error: unknown): Quote | null => {
  if (codeOf(error) !== "quote_price_moved") return null;
  const parsed = quoteRecord.safeParse(extraOf(error, "quote"));
  return parsed.success ? parsed.data : null;
};

export interface SwapFlow {
  readonly flow: Flow | null;
  readonly open: boolean;
  /** Opens at the code of this quote; goes on where it was when the quote is the same. */
  readonly start: (quote: Quote) => void;
  readonly close: () => void;
  readonly back: () => void;
  readonly setCode: (code: string) => void;
  readonly sendCode: () => Promise<void>;
  readonly prepare: (code: string) => Promise<void>;
  readonly acceptMoved: () => void;
  readonly execute: () => Promise<void>;
  readonly sending: boolean;
  readonly preparing: boolean;
  readonly executing: boolean;
  readonly sendError: unknown;
  readonly prepareError: unknown;
  readonly executeError: unknown;
}

/** Code → prepare → review → execute, for one quote. Its state outlives the dialog that shows it. */
export const useSwapFlow = (onDone: () => void): SwapFlow => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const [flow, setFlow] = useState<Flow | null>(null);
  const [open, setOpen] = useState(false);
  const otp = useApiMutation(requestOtp);
  const preparation = useApiMutation(prepareSwap);
  const execution = useApiMutation(executeSwap);
  const change = (part: Partial<Flow>): void => setFlow((before) => (before === null ? null : { ...before, ...part }));
  const resetErrors = (): void => {
    otp.reset();
    preparation.reset();
    execution.reset();
  };

  const start = (quote: Quote): void => {
    if (flow?.quote.quoteId !== quote.quoteId) {
      setFlow(begin(quote));
      resetErrors();
    }
    setOpen(true);
  };

  const sendCode = async (): Promise<void> => {
    if (flow === null) return;
    preparation.reset();
    const sent = await otp.mutateAsync({ body: { quoteId: flow.quote.quoteId } }).catch(() => null);
    if (sent !== null) change({ sent, code: "" });
  };

  const prepare = async (code: string): Promise<void> => {
    if (flow === null) return;
    execution.reset();
    const body = { quoteId: flow.quote.quoteId, ...(flow.approved ? {} : { otp: code }) };
    try {
      const prepared = await preparation.mutateAsync({ body });
      change({ prepared, approved: true, step: "review", executeKey: crypto.randomUUID() });
    } catch (error) {
      const reason = codeOf(error) ?? "network_error";
      if (REFUSED_CODE.has(reason)) change({ code: "", approved: false, step: "code" });
      else change({ approved: flow.approved || !NOT_LOOKED_AT.has(reason), moved: movedQuoteOf(error) });
    }
  };

  const execute = async (): Promise<void> => {
    if (flow === null) return;
    const input = { body: { quoteId: flow.quote.quoteId }, idempotencyKey: flow.executeKey };
    const operation = await execution.mutateAsync(input).catch(() => null);
    if (operation === null) return;
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getUnifiedBalances) });
    onDone();
    router.push(`/activity/${operation.operationId}`);
  };

  return {
    flow,
    open,
    start,
    close: () => setOpen(false),
    back: () => (flow?.step === "review" ? change({ step: "code" }) : setOpen(false)),
    setCode: (code) => change({ code }),
    sendCode,
    prepare,
    acceptMoved: () => {
      if (flow?.moved == null) return;
      resetErrors();
      setFlow(begin(flow.moved));
    },
    execute,
    sending: otp.isPending,
    preparing: preparation.isPending,
    // Until the page of the operation is there.
    executing: execution.isPending || execution.isSuccess,
    sendError: otp.error,
    prepareError: preparation.error,
    executeError: execution.error,
  };
};
