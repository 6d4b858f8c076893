"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { Alert } from "@/components/ui/alert";
import { RecipientName } from "@/components/features/names/recipient-name";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/form";
import { Field } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import { CodeEntry } from "./code-entry";
import { codeForm, CodeSendError } from "./code-form";
import { mayContinue, type Flow } from "./move-flow";
import { MeansField, PasskeyField, useProofChoice } from "./proof-field";
import type { MoveFlow } from "./use-move-flow";

/** The button that goes on stands in the footer of the dialog; Enter in the field does the same. */
export const CODE_FORM_ID = "move-code";

/** After a code that was right, none is needed. */
const approvedForm = z.object({ code: z.string() });

/** Takes what approves exactly this quote or transfer: a code that is sent, or a second factor. */
export const CodeStep = ({ flow: move }: { readonly flow: MoveFlow }): ReactNode => {
  const { flow } = move;
  // The code is kept by the flow, so that it outlives the dialog.
  const form = useForm({
    resolver: zodResolver(flow?.approved === true ? approvedForm : codeForm),
    defaultValues: { code: "" },
    values: { code: flow?.code ?? "" },
  });
  const choice = useProofChoice(() => move.setCode(""));
  if (flow === null) return null;
  const { subject } = flow;
  const takesProof = flow.moved === null && !flow.approved;
  return (
    <Form
      id={CODE_FORM_ID}
      form={form}
      className="flex flex-col gap-4"
      onSubmit={({ code }) =>
        mayContinue(flow) ? move.prepare(choice.means === "app" ? { totp: code } : code) : undefined
      }
    >
      <p className="text-fg-2">
        Your approval is for exactly this: {subject.sources === 1 ? "one source" : `${subject.sources} sources`}, at
        least{" "}
        <Amount value={subject.to.minAmount} unit={subject.to.token.symbol} className="font-medium text-fg" exact /> to{" "}
        <RecipientName address={subject.to.address} />{" "}
        <code className="font-mono text-sm break-all text-fg">{subject.to.address}</code>. It is good for nothing else.
      </p>
      {takesProof ? <MeansField choice={choice} /> : null}
      {flow.moved !== null ? null : flow.approved ? (
        <Alert tone="success" title="The code was right.">
          This is approved; going on needs no further code.
        </Alert>
      ) : choice.means === "passkey" ? (
        <PasskeyField subject={subject.ids} busy={move.preparing} money="Nothing was sent." onApprove={move.prepare} />
      ) : choice.means === "app" ? (
        <Field label="Code of the authenticator app">
          <OtpInput value={flow.code} onChange={move.setCode} disabled={move.preparing} autoFocus />
        </Field>
      ) : (
        <MailedCode move={move} flow={flow} />
      )}
    </Form>
  );
};

const MailedCode = ({ move, flow }: { readonly move: MoveFlow; readonly flow: Flow }): ReactNode => (
  <>
    {flow.sent === null ? (
      <div>
        <Button variant="primary" loading={move.sending} onClick={() => void move.sendCode()}>
          Send code
        </Button>
      </div>
    ) : (
      <CodeEntry
        sent={flow.sent}
        code={flow.code}
        onChange={move.setCode}
        onResend={() => void move.sendCode()}
        sending={move.sending}
        disabled={move.preparing}
      />
    )}
    <CodeSendError error={move.sendError} money="Nothing was sent." />
  </>
);
