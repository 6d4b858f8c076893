"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { codeOf, extraOf } from "./field-errors";
import type { Flow, SwapFlow } from "./use-swap-flow";

interface FlowErrorsProps {
  readonly swap: SwapFlow;
  readonly flow: Flow;
  readonly onNewQuote: () => void;
}

/** What is refused for good, so that only another quote helps. */
const FINAL: ReadonlySet<string | null> = new Set(["simulation_failed", "no_route", "insufficient_liquidity"]);

const needsNewQuote = (swap: SwapFlow, flow: Flow, error: unknown): boolean => {
  if (FINAL.has(codeOf(error))) return true;
  if (codeOf(error) !== "quote_expired") return false;
  // The lock of 60 s is over sooner than the quote; preparing again is enough then.
  return error !== swap.executeError || Date.parse(flow.quote.expiresAt) <= Date.now();
};

const actionOf = ({ swap, flow, onNewQuote }: FlowErrorsProps, error: unknown): ReactNode => {
  const operationId = extraOf(error, "operationId");
  if (typeof operationId === "string") {
    return (
      <Link href={`/activity/${operationId}`} className="link">
        Show the operation
      </Link>
    );
  }
  if (!needsNewQuote(swap, flow, error)) return null;
  return (
    <Button size="sm" onClick={onNewQuote}>
      Get a new quote
    </Button>
  );
};

/** The receipt is long; an error below it must not wait to be found. */
const show = (node: HTMLElement | null): void => node?.scrollIntoView({ block: "nearest" });

/** Errors of prepare and execute, with where the money is. A moved price has a notice of its own. */
export const FlowErrors = (props: FlowErrorsProps): ReactNode => {
  const { prepareError, executeError } = props.swap;
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
            money={
              codeOf(executeError) === "network_error"
                ? "Whether it was accepted is not known. Executing again is safe: the money moves once."
                : codeOf(executeError) === "quote_already_used"
                  ? "The money moves once, with that operation."
                  : "The money is where it was."
            }
            action={actionOf(props, executeError)}
          />
        </div>
      )}
    </>
  );
};
