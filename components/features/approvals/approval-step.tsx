"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { type ReactNode, useId, useState } from "react";
import { type FieldValues, useForm } from "react-hook-form";
import { z } from "zod";
import { Alert } from "@/components/ui/alert";
import { MessageText } from "@/components/ui/code-block";
import { Button } from "@/components/ui/button";
import { Dialog, DialogButtons, type DialogProps } from "@/components/ui/dialog";
import {
  DialogForm,
  Form,
  type FormDialogProps,
  FormError,
  TextField,
} from "@/components/ui/form";
import { ActionError } from "@/components/ui/states";
import { Countdown } from "@/components/ui/time";
import { ProofPart } from "./proof-part";
import type { AskedApproval, Approvable } from "./use-approvable";

interface ApprovalStepProps {
  readonly asked: AskedApproval;
  readonly change: Omit<Approvable<never>, "asked" | "start">;
  /** When only the wallet can approve, requests its signature without another click. */
  readonly signsAtOnce?: boolean;
}

type OneApprovalProps = Required<ApprovalStepProps>;

export const ApprovalStep = ({
  asked,
  change,
  signsAtOnce = false,
}: ApprovalStepProps): ReactNode => {
  const { isRenewed, error, busy } = change;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {isRenewed ? (
        <Alert tone="warning" title="Approve once more">
          The earlier approval had expired, or something changed meanwhile. Check the text below
          again.
        </Alert>
      ) : null}
      <OneApproval
        key={asked.approvalId}
        asked={asked}
        change={change}
        signsAtOnce={signsAtOnce}
      />
      <ActionError error={error} money="Nothing was changed." />
      <div>
        <Button variant="ghost" disabled={busy} onClick={change.reset}>
          Back
        </Button>
      </div>
    </div>
  );
};

const OneApproval = ({ asked, change, signsAtOnce }: OneApprovalProps): ReactNode => {
  const [isOver, setIsOver] = useState(false);
  const { approvalId, message, proofs, expiresAt } = asked;
  return (
    <>
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-fg-2">
        <span>This needs your approval, which is good for exactly this and nothing else.</span>
        <Countdown
          until={expiresAt}
          label="Good for"
          expiredText="Expired"
          onExpire={() => setIsOver(true)}
        />
      </p>
      <MessageText label="Change to approve">{message}</MessageText>
      {isOver ? (
        <div>
          <Button variant="primary" loading={change.busy} onClick={() => void change.renew()}>
            Ask again
          </Button>
        </div>
      ) : (
        <div className="max-w-sm">
          <ProofPart
            act="Approve"
            subject={{ approvalId }}
            takesCode={proofs.includes("code")}
            busy={change.busy}
            money="Nothing was changed."
            onApprove={change.approve}
            wallet={{ message, signsAtOnce, onApprove: change.approve }}
            onRecovery={proofs.includes("recovery_code") ? change.approve : undefined}
          />
        </div>
      )}
    </>
  );
};

interface ChangeDialogProps<Input> extends Omit<DialogProps, "open"> {
  readonly change: Approvable<Input>;
}

export const ChangeDialog = <Input,>({
  change,
  children,
  ...dialog
}: ChangeDialogProps<Input>): ReactNode => (
  <Dialog {...dialog}>
    {change.asked === null ? children : <ApprovalStep asked={change.asked} change={change} />}
  </Dialog>
);

interface ChangeFormProps<Values extends FieldValues, Context, Sent, Input> extends Omit<
  FormDialogProps<Values, Context, Sent>,
  "open" | "mutation"
> {
  readonly change: Approvable<Input>;
}

export const ChangeForm = <Values extends FieldValues, Context, Sent, Input>({
  change,
  onClose,
  title,
  description,
  size,
  ...form
}: ChangeFormProps<Values, Context, Sent, Input>): ReactNode => (
  <ChangeDialog
    change={change}
    onClose={onClose}
    title={title}
    description={description}
    size={size}
  >
    <DialogForm {...form} error={change.error} busy={change.busy} onCancel={onClose} />
  </ChangeDialog>
);

interface ConfirmChangeProps<Input> {
  readonly change: Approvable<Input>;
  readonly input: Input;
  /** Shown after an error: where the money is, or what remains unchanged. */
  readonly money: string;
  readonly act: string;
  readonly tone?: "primary" | "danger";
  readonly disabled?: boolean;
  readonly snippet?: ReactNode;
  readonly onCancel: () => void;
  readonly children?: ReactNode;
}

export const ConfirmChange = <Input,>(props: ConfirmChangeProps<Input>): ReactNode => (
  <div className="flex flex-col gap-4">
    {props.children}
    <ActionError error={props.change.error} money={props.money} />
    {props.snippet}
    <DialogButtons
      onCancel={props.onCancel}
      tone={props.tone}
      busy={props.change.busy}
      disabled={props.disabled}
      onAct={() => void props.change.start(props.input)}
    >
      {props.act}
    </DialogButtons>
  </div>
);

type ConfirmDialogProps<Input> = Omit<ConfirmChangeProps<Input>, "onCancel"> &
  Omit<ChangeDialogProps<Input>, "footer">;

export const ConfirmChangeDialog = <Input,>({
  onClose,
  title,
  description,
  size,
  ...confirm
}: ConfirmDialogProps<Input>): ReactNode => (
  <ChangeDialog
    change={confirm.change}
    onClose={onClose}
    title={title}
    description={description}
    size={size}
  >
    <ConfirmChange {...confirm} onCancel={onClose} />
  </ChangeDialog>
);

const REASON_MAX = 500;

const reasonForm = z.object({
  reason: z.string().trim().min(1, "Enter the reason.").max(REASON_MAX),
});

interface ReasonDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: string;
  readonly hint: string;
  /** Label of the button that continues. */
  readonly act: string;
  /** Label of the button that cancels. Default: Cancel. */
  readonly keep?: string;
  /** Shown after an error: where the money is. */
  readonly money: string;
  readonly change: Approvable<string>;
}

export const ReasonDialog = (props: ReasonDialogProps): ReactNode => {
  const {
    open,
    onClose,
    title,
    description,
    hint,
    act,
    keep = "Cancel",
    money,
    change,
  } = props;
  const form = useForm({ resolver: zodResolver(reasonForm), defaultValues: { reason: "" } });
  const formId = useId();
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      description={description}
      footer={
        change.asked !== null ? undefined : (
          <>
            <Button onClick={close}>{keep}</Button>
            <Button type="submit" form={formId} variant="primary" loading={change.busy}>
              {act}
            </Button>
          </>
        )
      }
    >
      {change.asked !== null ? (
        <ApprovalStep asked={change.asked} change={change} />
      ) : (
        <Form
          id={formId}
          form={form}
          error={change.error}
          onSubmit={({ reason }) => change.start(reason)}
          className="flex flex-col gap-3"
        >
          <TextField
            control={form.control}
            name="reason"
            label="Reason"
            hint={hint}
            input={{ maxLength: REASON_MAX, autoFocus: true }}
          />
          <FormError money={money} />
        </Form>
      )}
    </Dialog>
  );
};
