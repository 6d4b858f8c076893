"use client";

import { ArrowLeft } from "lucide-react";
import { useState, type ReactNode } from "react";
import { signaturesOf } from "@/components/features/signing/signing-model";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { CODE_FORM_ID } from "./code-step";
import { mayContinue, type Flow } from "./move-flow";
import type { MoveFlow } from "./use-move-flow";

interface FlowFooterProps {
  readonly move: MoveFlow;
  readonly flow: Flow;
}

/** Back, and the one way on. */
export const FlowFooter = ({ move, flow }: FlowFooterProps): ReactNode => {
  const busy = move.preparing || move.executing;
  return (
    <>
      <Button className="mr-auto" variant="ghost" disabled={busy} onClick={move.back}>
        <ArrowLeft aria-hidden /> {flow.step === "code" ? `Back to the ${flow.subject.noun}` : "Back"}
      </Button>
      {flow.step === "code" ? (
        <Button
          variant="primary"
          loading={move.preparing}
          type="submit"
          form={CODE_FORM_ID}
          disabled={!mayContinue(flow)}
        >
          Continue
        </Button>
      ) : flow.prepared === null ? null : (
        <LockedActions key={flow.prepared.expiresAt} move={move} flow={flow} prepared={flow.prepared} />
      )}
    </>
  );
};

interface LockedActionsProps extends FlowFooterProps {
  readonly prepared: NonNullable<Flow["prepared"]>;
}

const wordsOf = ({ signing }: MoveFlow, { subject }: Flow): string => {
  const { steps } = signing;
  if (signaturesOf(steps) !== null) return `Execute ${subject.noun}`;
  if (signing.busy) return "Waiting for the wallet …";
  const next = steps.findIndex(({ at }) => at.state !== "done");
  return steps.some(({ at }) => at.state !== "todo") ? `Go on with step ${String(next + 1)}` : "Sign and execute";
};

/** The price is locked for 60 s; after that it is prepared again, without another code. */
const LockedActions = ({ move, flow, prepared }: LockedActionsProps): ReactNode => {
  const [over, setOver] = useState(false);
  // After a transaction was sent, the move cannot be prepared again: it must be finished.
  const mayPrepare = over && !move.executing && !move.signing.moved;
  return (
    <>
      <Countdown
        until={prepared.expiresAt}
        label="Expires in"
        expiredText="The lock of the price is over"
        onExpire={() => setOver(true)}
      />
      {mayPrepare ? (
        <Button
          variant="primary"
          loading={move.preparing}
          disabled={flow.moved !== null}
          onClick={() => void move.prepare("")}
        >
          Prepare again
        </Button>
      ) : (
        <Button
          variant="primary"
          loading={move.executing}
          disabled={flow.moved !== null}
          onClick={() => void move.execute()}
        >
          {wordsOf(move, flow)}
        </Button>
      )}
    </>
  );
};
