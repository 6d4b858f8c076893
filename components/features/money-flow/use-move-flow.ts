"use client";

/**
 * The one way in which a person moves money: code → prepare → review → sign where wallets of one's own are sources → execute.
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
import { useState } from "react";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import type { Signed } from "@/components/features/signing/types";
import { useSigning, type Signing } from "@/components/features/signing/use-signing";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { listOperations } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { codeOf, detailsOf } from "./api-error";
import type { MoveSubject, Prepared, SentCode } from "./types";

export interface Flow {
  readonly subject: MoveSubject;
  readonly step: "code" | "review";
  readonly sent: SentCode | null;
  readonly code: string;
  /** The code was right: preparing again needs none. */
  readonly approved: boolean;
  readonly prepared: Prepared | null;
  /** A fresh subject, after the price moved below what was approved. */
  readonly moved: MoveSubject | null;
}

const CODE_DIGITS = 6;

/** Whether the code is whole, or was right already. */
export const mayContinue = (flow: Flow): boolean =>
  flow.moved === null && (flow.approved || flow.code.length === CODE_DIGITS);

const begin = (subject: MoveSubject): Flow => ({
  subject,
  step: "code",
  sent: null,
  code: "",
  approved: false,
  prepared: null,
  moved: null,
});

const keyOf = ({ ids }: MoveSubject): string => JSON.stringify(ids);

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

export interface MoveFlow {
  readonly flow: Flow | null;
  readonly open: boolean;
  /** Opens at the code of this subject; goes on where it was when the subject is the same. */
  readonly start: (subject: MoveSubject) => void;
  readonly close: () => void;
  readonly back: () => void;
  readonly setCode: (code: string) => void;
  readonly sendCode: () => Promise<void>;
  readonly prepare: (code: string) => Promise<void>;
  readonly acceptMoved: () => void;
  /** Lets the wallets sign what is left to sign, then executes. */
  readonly execute: () => Promise<void>;
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
}

/** Sends execute. The same body twice has the same key, so that one that got no answer moves the money once. */
const useExecution = () => {
  const execution = useApiMutation(executeSwap);
  const [last, setLast] = useState({ body: "", key: "" });
  const send = async (subject: MoveSubject, signatures: readonly Signed[]) => {
    const body = { ...subject.ids, ...(signatures.length === 0 ? {} : { signatures: [...signatures] }) };
    const text = JSON.stringify(body);
    const key = text === last.body ? last.key : crypto.randomUUID();
    setLast({ body: text, key });
    return execution.mutateAsync({ body, idempotencyKey: key });
  };
  /** After another preparation the same body is another execution. */
  const renew = (): void => {
    execution.reset();
    setLast({ body: "", key: "" });
  };
  return { execution, send, renew };
};

export const useMoveFlow = ({ onDone }: MoveFlowOptions = {}): MoveFlow => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const [flow, setFlow] = useState<Flow | null>(null);
  const [open, setOpen] = useState(false);
  const otp = useApiMutation(requestOtp);
  const preparation = useApiMutation(prepareSwap);
  const { execution, send, renew } = useExecution();
  const signing = useSigning();
  const change = (part: Partial<Flow>): void => setFlow((before) => (before === null ? null : { ...before, ...part }));
  const beginWith = (subject: MoveSubject): void => {
    otp.reset();
    preparation.reset();
    renew();
    signing.clear();
    setFlow(begin(subject));
  };

  const start = (subject: MoveSubject): void => {
    if (flow === null || keyOf(flow.subject) !== keyOf(subject)) beginWith(subject);
    setOpen(true);
  };

  const sendCode = async (): Promise<void> => {
    if (flow === null) return;
    preparation.reset();
    const sent = await otp.mutateAsync({ body: flow.subject.ids }).catch(() => null);
    if (sent !== null) change({ sent, code: "" });
  };

  const prepare = async (code: string): Promise<void> => {
    if (flow === null) return;
    execution.reset();
    try {
      const body = { ...flow.subject.ids, ...(flow.approved ? {} : { otp: code }) };
      const prepared = await preparation.mutateAsync({ body });
      renew();
      signing.load(prepared.actions);
      change({ prepared, approved: true, step: "review" });
    } catch (error) {
      const reason = codeOf(error) ?? "network_error";
      if (REFUSED_CODE.has(reason)) change({ code: "", approved: false, step: "code" });
      else {
        const moved = reason === "quote_price_moved" ? (flow.subject.movedTo?.(error) ?? null) : null;
        change({ approved: flow.approved || !NOT_LOOKED_AT.has(reason), moved });
      }
    }
  };

  const execute = async (): Promise<void> => {
    if (flow?.prepared == null) return;
    const { subject, prepared } = flow;
    execution.reset();
    // A transaction that moves money may only go out while what was prepared still holds.
    const signatures = await signing.run((moved) => moved || Date.parse(prepared.expiresAt) > Date.now());
    if (signatures === null) return;
    try {
      const operation = await send(subject, signatures);
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(getUnifiedBalances) });
      signing.clear();
      onDone?.(operation.operationId);
      router.push(`/activity/${operation.operationId}`);
    } catch (error) {
      if (codeOf(error) !== "invalid_signature") return;
      for (const { path, message } of detailsOf(error)) signing.refuse(path.replace(/^signatures\./, ""), message);
    }
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
      if (flow?.moved != null) beginWith(flow.moved);
    },
    execute,
    signing,
    sending: otp.isPending,
    preparing: preparation.isPending,
    // Until the page of the operation is there.
    executing: signing.busy || execution.isPending || execution.isSuccess,
    sendError: otp.error,
    prepareError: preparation.error,
    executeError: execution.error,
  };
};
