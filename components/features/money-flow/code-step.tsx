"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { codeOf } from "./api-error";
import { CodeEntry } from "./code-entry";
import { mayContinue, type MoveFlow } from "./use-move-flow";

/** The button that goes on stands in the footer of the dialog; Enter in the field does the same. */
export const CODE_FORM_ID = "move-code";

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

/** Sends the code that approves exactly this quote or transfer, and takes it. */
export const CodeStep = ({ flow: move }: { readonly flow: MoveFlow }): ReactNode => {
  const { flow } = move;
  if (flow === null) return null;
  const { subject, sent } = flow;
  return (
    <form
      id={CODE_FORM_ID}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (mayContinue(flow)) void move.prepare(flow.code);
      }}
    >
      <p className="text-fg-2">
        The code approves exactly this: {subject.sources === 1 ? "one source" : `${subject.sources} sources`}, at least{" "}
        <Amount value={subject.to.minAmount} unit={subject.to.token.symbol} className="font-medium text-fg" plain /> to{" "}
        <code className="font-mono text-sm break-all text-fg">{subject.to.address}</code>. It is good for nothing else.
      </p>
      {flow.moved !== null ? null : flow.approved ? (
        <Alert tone="success" title="The code was right.">
          This is approved; going on needs no further code.
        </Alert>
      ) : sent === null ? (
        <div>
          <Button variant="primary" loading={move.sending} onClick={() => void move.sendCode()}>
            Send code
          </Button>
        </div>
      ) : (
        <CodeEntry
          sent={sent}
          code={flow.code}
          onChange={move.setCode}
          onResend={() => void move.sendCode()}
          sending={move.sending}
          disabled={move.preparing}
        />
      )}
      {move.sendError == null ? null : (
        <ErrorState
          compact
          error={move.sendError}
          money="Nothing was sent."
          {...(codeOf(move.sendError) === "otp_channel_missing" ? { action: SETTINGS_LINK } : {})}
        />
      )}
    </form>
  );
};
