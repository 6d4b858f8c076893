"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useId, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { ApprovalStep } from "./approval-step";
import type { Approvable } from "./use-approvable";

const REASON_MAX = 500;
const reasonForm = z.object({ reason: z.string().trim().min(1, "Enter the reason.").max(REASON_MAX) });

interface ReasonDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: string;
  readonly hint: string;
  /** Labels of the two buttons. */
  readonly act: string;
  readonly keep?: string;
  /** Said below an error: where the money is. */
  readonly money: string;
  /** Its input is the reason. */
  readonly change: Approvable<string>;
}

/** Asks for the reason of a decision, then for the approval. */
export const ReasonDialog = (props: ReasonDialogProps): ReactNode => {
  const { open, onClose, title, description, hint, act, keep = "Cancel", money, change } = props;
  const form = useForm({ resolver: zodResolver(reasonForm), defaultValues: { reason: "" } });
  const formId = useId();
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={close}
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
