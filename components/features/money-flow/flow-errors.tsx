"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { codeOf, extraOf } from "./api-error";
import type { Flow } from "./move-flow";
import type { MoveFlow } from "./use-move-flow";

interface FlowErrorsProps {
  readonly move: MoveFlow;
  readonly flow: Flow;
  readonly onNewQuote: () => void;
}

/** Whether the error is final, so that only another quote helps. */
const FINAL: ReadonlySet<string | null> = new Set(["simulation_failed", "no_route", "insufficient_liquidity"]);

const needsNewQuote = ({ move, flow }: FlowErrorsProps, error: unknown): boolean => {
  if (FINAL.has(codeOf(error))) return true;
  if (codeOf(error) === "quote_price_moved") return flow.moved === null;
  if (codeOf(error) !== "quote_expired") return false;
  // The lock of 60 s is over sooner than the quote; preparing again is enough then.
  const { expiresAt } = flow.subject;
  return error !== move.executeError || (expiresAt !== null && Date.parse(expiresAt) <= Date.now());
};

const actionOf = (props: FlowErrorsProps, error: unknown): ReactNode => {
  const operationId = extraOf(error, "operationId");
  if (typeof operationId === "string") {
    return (
      <Link href={`/activity/${operationId}`} className="link">
        Show the operation
      </Link>
    );
  }
  if (!needsNewQuote(props, error)) return null;
  return (
    <Button size="sm" onClick={props.onNewQuote}>
      {props.flow.subject.noun === "transfer" ? "Start the transfer again" : "Get a new quote"}
    </Button>
  );
};

const moneyOf = ({ move }: FlowErrorsProps, error: unknown): string => {
  if (codeOf(error) === "network_error")
    return "Whether it was accepted is not known. Executing again is safe: the money moves once.";
  if (codeOf(error) === "quote_already_used") return "The money moves once, with that operation.";
  return move.signing.moved
    ? "What your wallets sent already is on its way, as the steps above say."
    : "The money is where it was.";
};

/** The receipt is long; an error below it must not wait to be found. */
const show = (node: HTMLElement | null): void => node?.scrollIntoView({ block: "nearest" });

/** Errors of prepare and execute, with where the money is. A moved price has a notice of its own. */
export const FlowErrors = (props: FlowErrorsProps): ReactNode => {
  const { prepareError, executeError } = props.move;
  return (
    <>
      {prepareError == null || props.flow.moved !== null ? null : (
        <div ref={show}>
          <ErrorState
            compact
            error={prepareError}
            money="The money is where it was."
            action={actionOf(props, prepareError)}
          />
        </div>
      )}
      {executeError == null ? null : (
        <div ref={show}>
          <ErrorState
            compact
            error={executeError}
            money={moneyOf(props, executeError)}
            action={actionOf(props, executeError)}
          />
        </div>
      )}
    </>
  );
};
