"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Dialog } from "@/components/ui/dialog";
import { Steps } from "@/components/ui/timeline";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/api-client/calls.gen";
import { CodeStep } from "./code-step";
import { FlowErrors } from "./flow-errors";
import { FlowFooter } from "./flow-footer";
import { PriceChange } from "./price-change";
import { ReviewStep } from "./review-step";
import type { Flow } from "./move-flow";
import type { MoveFlow } from "./use-move-flow";

const STEP_INDEX = { code: 1, review: 2 } as const;
const FIRST_STEP = { swap: "Quote", transfer: "Transfer", retry: "Quote" } as const;

export interface MoveDialogProps {
  readonly flow: MoveFlow;
  /** Closes the dialog and asks for a new quote of the form's values. */
  readonly onNewQuote: () => void;
  /** The price moved and the person went on with the fresh subject, so the values in the form are out of date. */
  readonly onMoved?: () => void;
}

/** The call of the button at the right. */
const FlowSnippet = ({ move, flow }: { readonly move: MoveFlow; readonly flow: Flow }): ReactNode => {
  const { ids } = flow.subject;
  const signatures = move.signing.steps
    .filter((step) => !step.kept)
    .map(({ action }) => ({
      actionId: action.actionId,
      ...(action.kind === "transaction" ? { txHash: "0x…" } : { signature: "0x…" }),
    }));
  const { path, body } =
    flow.step === "review"
      ? { path: executeSwap.path, body: { ...ids, ...(signatures.length === 0 ? {} : { signatures }) } }
      : flow.sent === null && !flow.approved
        ? { path: requestOtp.path, body: ids }
        : { path: prepareSwap.path, body: flow.approved ? ids : { ...ids, otp: "123456" } };
  return <ApiSnippet key={path} method="POST" path={path} body={body} />;
};

/** Approves, lets wallets sign, and executes. Closing keeps where one was; opening the same subject goes on from there. */
export const MovePanel = ({ flow: move, onNewQuote, onMoved }: MoveDialogProps): ReactNode => {
  const { flow } = move;
  if (flow === null) return null;
  const { noun } = flow.subject;
  return (
    <Dialog
      open={move.open}
      onOpenChange={(open) => (open ? undefined : move.close())}
      title={flow.step === "code" ? `Approve the ${noun}` : `Review the ${noun}`}
      description={
        <Steps
          label={`Steps of the ${noun}`}
          steps={[FIRST_STEP[noun], "Code", "Review", "Done"]}
          current={STEP_INDEX[flow.step]}
        />
      }
      size="lg"
      footer={<FlowFooter move={move} flow={flow} />}
    >
      <div className="flex flex-col gap-4">
        {flow.step === "code" ? <CodeStep flow={move} /> : <ReviewStep flow={move} />}
        {flow.moved === null ? null : (
          <PriceChange
            seen={flow.subject.to}
            fresh={flow.moved.to}
            onAccept={() => {
              move.acceptMoved();
              onMoved?.();
            }}
            title="The price moved below what you approved. Nothing was sent."
            acceptLabel="Accept, and approve with a new code"
          />
        )}
        <FlowErrors move={move} flow={flow} onNewQuote={onNewQuote} />
        <FlowSnippet move={move} flow={flow} />
      </div>
    </Dialog>
  );
};
