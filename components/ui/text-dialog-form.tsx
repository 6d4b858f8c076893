"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { Dialog, type DialogProps } from "./dialog";
import { DialogForm, TextField } from "./form";

interface TextDialogProps extends Pick<
  DialogProps,
  "title" | "description" | "size" | "onClose"
> {
  /** Name of the text field in the API's errors. */
  readonly field: string;
  readonly label: string;
  readonly hint: string;
  readonly lengthMax: number;
  /** Message for an empty field; absent when the field may be empty. */
  readonly emptyProblem?: string;
  readonly defaultValue?: string;
  readonly act: string;
  readonly tone?: "primary" | "danger";
  /** Says after an error where the money is, or what stays unchanged. */
  readonly money: string;
  /** The mutation that `onText` runs. */
  readonly action: { readonly error: unknown; readonly isPending: boolean };
  /** Called with the trimmed text. */
  readonly onText: (text: string) => Promise<void>;
  /** The same request as example code, with the trimmed text. */
  readonly snippet?: (text: string) => ReactNode;
}

/** Asks for one text and sends it. The dialog stays open until `onText` closes it. */
export const TextDialogForm = (props: TextDialogProps): ReactNode => {
  const { label, hint, lengthMax, emptyProblem, action, onClose } = props;
  const text = z.string().trim().max(lengthMax);
  const schema = z.object({
    text: emptyProblem === undefined ? text : text.min(1, emptyProblem),
  });
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { text: props.defaultValue ?? "" },
  });
  return (
    <Dialog
      onClose={onClose}
      title={props.title}
      description={props.description}
      size={props.size}
    >
      <DialogForm
        form={form}
        error={action.error}
        fieldOf={{ [props.field]: "text" }}
        onSubmit={(values) => props.onText(values.text)}
        money={props.money}
        act={props.act}
        tone={props.tone}
        busy={action.isPending}
        onCancel={onClose}
        snippet={props.snippet?.(form.watch("text").trim())}
      >
        <TextField
          control={form.control}
          name="text"
          label={label}
          hint={hint}
          input={{ maxLength: lengthMax, autoFocus: true }}
        />
      </DialogForm>
    </Dialog>
  );
};
