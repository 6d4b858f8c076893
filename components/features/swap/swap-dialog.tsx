"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Dialog } from "@/components/ui/dialog";
import { Steps } from "@/components/ui/timeline";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { CodeStep } from "./code-step";
import { FlowErrors } from "./flow-errors";
import { FlowFooter } from "./flow-footer";
import { RateChange } from "./rate-change";
import { ReviewStep } from "./review-step";
import type { Flow, SwapFlow } from "./use-swap-flow";

const STEPS = ["Quote", "Code", "Review", "Done"];
const STEP_INDEX = { code: 1, review: 2 } as const;

interface SwapDialogProps {
  readonly flow: SwapFlow;
  /** Closes and asks for a new quote of the same form. */
  readonly onNewQuote: () => void;
  /** The price moved and the person went on with the fresh quote; the form's own is out of date. */
  readonly onMoved: () => void;
}

/** The call of the button at the right. */
const FlowSnippet = ({ flow }: { readonly flow: Flow }): ReactNode => {
  const { quoteId } = flow.quote;
  const { path, body } =
    flow.step === "review"
      ? { path: executeSwap.path, body: { quoteId } }
      : flow.sent === null && !flow.approved
        ? { path: requestOtp.path, body: { quoteId } }
        : { path: prepareSwap.path, body: flow.approved ? { quoteId } : { quoteId, otp: "123456" } };
  return <ApiSnippet key={path} method="POST" path={path} body={body} />;
};

/** Approves and executes one quote. Closing keeps where one was; opening the same quote goes on from there. */
export const SwapDialog = ({ flow: swap, onNewQuote, onMoved }: SwapDialogProps): ReactNode => {
  const { flow } = swap;
  if (flow === null) return null;
  return (
    <Dialog
      open={swap.open}
      onOpenChange={(open) => (open ? undefined : swap.close())}
      title={flow.step === "code" ? "Approve the swap" : "Review the swap"}
      description={<Steps label="Steps of the swap" steps={STEPS} current={STEP_INDEX[flow.step]} />}
      size="lg"
      footer={<FlowFooter swap={swap} flow={flow} />}
    >
      <div className="flex flex-col gap-4">
        {flow.step === "code" ? <CodeStep flow={swap} /> : <ReviewStep flow={swap} />}
        {flow.moved === null ? null : (
          <RateChange
            seen={flow.quote}
            fresh={flow.moved}
            onAccept={() => {
              swap.acceptMoved();
              onMoved();
            }}
            title="The price moved below what you approved. Nothing was sent."
            acceptLabel="Accept, and approve with a new code"
          />
        )}
        <FlowErrors swap={swap} flow={flow} onNewQuote={onNewQuote} />
        <FlowSnippet flow={flow} />
      </div>
    </Dialog>
  );
};
