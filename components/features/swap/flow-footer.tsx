"use client";

import { ArrowLeft } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { CODE_FORM_ID } from "./code-step";
import { mayContinue, type Flow, type SwapFlow } from "./use-swap-flow";

interface FlowFooterProps {
  readonly swap: SwapFlow;
  readonly flow: Flow;
}

/** Back, and the one way on. */
export const FlowFooter = ({ swap, flow }: FlowFooterProps): ReactNode => {
  const busy = swap.preparing || swap.executing;
  return (
    <>
      <Button className="mr-auto" variant="ghost" disabled={busy} onClick={swap.back}>
        <ArrowLeft aria-hidden /> {flow.step === "code" ? "Back to the quote" : "Back"}
      </Button>
      {flow.step === "code" ? (
        <Button
          variant="primary"
          loading={swap.preparing}
          type="submit"
          form={CODE_FORM_ID}
          disabled={!mayContinue(flow)}
        >
          Continue
        </Button>
      ) : flow.prepared === null ? null : (
        <LockedActions
          key={flow.prepared.expiresAt}
          swap={swap}
          prepared={flow.prepared}
          blocked={flow.moved !== null}
        />
      )}
    </>
  );
};

interface LockedActionsProps {
  readonly swap: SwapFlow;
  readonly prepared: NonNullable<Flow["prepared"]>;
  readonly blocked: boolean;
}

/** The price is locked for 60 s; after that it is prepared again, without another code. */
const LockedActions = ({ swap, prepared, blocked }: LockedActionsProps): ReactNode => {
  const [over, setOver] = useState(false);
  return (
    <>
      <Countdown
        until={prepared.expiresAt}
        label="Expires in"
        expiredText="The lock of the price is over"
        onExpire={() => setOver(true)}
      />
      {over && !swap.executing ? (
        <Button variant="primary" loading={swap.preparing} disabled={blocked} onClick={() => void swap.prepare("")}>
          Prepare again
        </Button>
      ) : (
        <Button
          variant="primary"
          loading={swap.executing}
          disabled={blocked || prepared.actions.length > 0}
          onClick={() => void swap.execute()}
        >
          Execute swap
        </Button>
      )}
    </>
  );
};
