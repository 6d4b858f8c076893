"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { type ComponentProps, type ReactNode, useState } from "react";
import { useController, useForm } from "react-hook-form";
import { z } from "zod";
import { PasskeyApproval } from "@/components/features/approvals/factor-approvals";
import { CODE_MEANS, useFactorMeans } from "@/components/features/approvals/use-factor-means";
import { RecipientName } from "@/components/features/names/names";
import { useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Field } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";
import { RadioCards } from "@/components/ui/radio-cards";
import type { BodyInput } from "@/lib/contracts/contract";
import { requestOtp } from "@/lib/contracts/swap";
import { type Flow, mayContinue } from "./move-flow";
import type { FactorProof } from "./types";
import type { MoveFlow } from "./use-move-flow";
import {
  CodeEntry,
  CodeField,
  codeForm,
  type CodeRequest,
  CodeSendError,
  SendCodeButton,
} from "./code-form";

/**
 * Id of the form. The submit button is outside it, in the dialog's footer, and refers to this id.
 */
export const CODE_FORM_ID = "move-code";

interface StepProps {
  readonly move: MoveFlow;
  readonly flow: Flow;
}

const approvedForm = z.object({ code: z.string() });

export const CodeStep = ({ move, flow }: StepProps): ReactNode => {
  // The flow stores the code, so that closing the dialog does not lose it.
  const form = useForm({
    resolver: zodResolver(flow.approved ? approvedForm : codeForm),
    defaultValues: { code: "" },
    values: { code: flow.code },
  });
  const choice = useProofChoice(() => move.setCode(""));
  const { subject } = flow;
  return (
    <Form
      id={CODE_FORM_ID}
      form={form}
      className="flex flex-col gap-4"
      onSubmit={({ code }) => {
        if (!mayContinue(flow)) return undefined;
        return move.prepare(choice.means === "app" ? { totp: code } : code);
      }}
    >
      <p className="text-fg-2">
        Your approval is for exactly this:{" "}
        {subject.sources === 1 ? "one source" : `${subject.sources} sources`}, at least{" "}
        <Amount
          value={subject.to.minAmount}
          unit={subject.to.token.symbol}
          className="font-medium text-fg"
          exact
        />{" "}
        to <RecipientName address={subject.to.address} chainId={subject.to.chainId} />{" "}
        <code className="font-mono text-sm break-all text-fg">{subject.to.address}</code>. It is
        good for nothing else.
      </p>
      {flow.moved === null ? <FlowProof move={move} flow={flow} choice={choice} /> : null}
    </Form>
  );
};

const FlowProof = ({
  move,
  flow,
  choice,
}: StepProps & { readonly choice: ProofChoice }): ReactNode => {
  if (flow.approved)
    return (
      <Alert tone="success" title="This is approved.">
        Going on needs no further proof.
      </Alert>
    );
  return (
    <MeansOfProof
      choice={choice}
      subject={flow.subject.ids}
      busy={move.preparing}
      money="Nothing was sent."
      onApprove={move.prepare}
      appCode={
        <AppCodeInput value={flow.code} onChange={move.setCode} disabled={move.preparing} />
      }
      mailedCode={<MailedCode move={move} flow={flow} />}
    />
  );
};

const MailedCode = ({ move, flow }: StepProps): ReactNode => (
  <>
    {flow.sent === null ? (
      <SendCodeButton loading={move.sending} onSend={move.sendCode} />
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

export interface ProofChoice {
  readonly options: ReturnType<typeof useFactorMeans>;
  readonly means: string;
  readonly choose: (means: string) => void;
}

export const useProofChoice = (onChange: () => void): ProofChoice => {
  const [means, setMeans] = useState<string>("code");
  const factors = useFactorMeans({ takesRecovery: false });
  return {
    options: factors.length === 0 ? [] : [CODE_MEANS, ...factors],
    means,
    choose: (next) => {
      setMeans(next);
      onChange();
    },
  };
};

export const proofOf = (means: string, code: string): { otp: string } | { totp: string } =>
  means === "app" ? { totp: code } : { otp: code };

/** Whether the form's submit button is enabled. A passkey has its own button. */
export const isReady = ({ means }: ProofChoice, codes: CodeRequest): boolean =>
  codes.isWhole && (means === "app" || (means === "code" && codes.sent !== null));

export const MeansField = ({ choice }: { readonly choice: ProofChoice }): ReactNode =>
  choice.options.length === 0 ? null : (
    <RadioCards
      label="Approve by"
      value={choice.means}
      onValueChange={choice.choose}
      options={choice.options}
    />
  );

interface PasskeyFieldProps {
  readonly subject: BodyInput<typeof requestOtp>;
  readonly busy: boolean;
  readonly money: string;
  readonly onApprove: (proof: FactorProof) => Promise<unknown>;
}

export const PasskeyField = ({ subject, ...props }: PasskeyFieldProps): ReactNode => {
  const asking = useApiMutation(requestOtp);
  return (
    <PasskeyApproval
      {...props}
      ask={() => asking.mutateAsync({ body: { ...subject, channel: "passkey" } })}
    />
  );
};

interface MeansOfProofProps extends PasskeyFieldProps {
  readonly choice: ProofChoice;
  readonly appCode: ReactNode;
  readonly mailedCode: ReactNode;
}

const MeansOfProof = ({
  choice,
  appCode,
  mailedCode,
  ...passkey
}: MeansOfProofProps): ReactNode => {
  const fieldOf = (): ReactNode => {
    if (choice.means === "passkey") return <PasskeyField {...passkey} />;
    return choice.means === "app" ? appCode : mailedCode;
  };
  return (
    <>
      <MeansField choice={choice} />
      {fieldOf()}
    </>
  );
};

interface ProofFieldProps extends PasskeyFieldProps {
  readonly codes: CodeRequest;
  readonly choice: ProofChoice;
}

export const ProofField = ({ codes, ...props }: ProofFieldProps): ReactNode => (
  <MeansOfProof
    {...props}
    appCode={<AppCodeField codes={codes} disabled={props.busy} />}
    mailedCode={
      <>
        <CodeField codes={codes} disabled={props.busy} />
        <CodeSendError error={codes.sendError} money={props.money} />
      </>
    }
  />
);

interface AppCodeFieldProps {
  readonly codes: CodeRequest;
  readonly disabled: boolean;
}

export const AppCodeField = ({ codes, disabled }: AppCodeFieldProps): ReactNode => {
  const { field } = useController({ control: codes.form.control, name: "code" });
  return <AppCodeInput value={field.value} onChange={field.onChange} disabled={disabled} />;
};

const AppCodeInput = (props: Omit<ComponentProps<typeof OtpInput>, "autoFocus">): ReactNode => (
  <Field label="Code of the authenticator app">
    <OtpInput {...props} autoFocus />
  </Field>
);
