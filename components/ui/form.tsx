"use client";

/**
 * Forms: react-hook-form over the controls of this folder.
 *
 *   const form = useForm({ resolver: zodResolver(schema), defaultValues });
 *   <Form form={form} error={mutation.error} onSubmit={(values) => send(values)}>
 *     <TextField control={form.control} name="name" label="Name" />
 *     <FormError money="Nothing was created." />
 *   </Form>
 */
import {
  createContext,
  useContext,
  useEffect,
  useId,
  useRef,
  type ComponentProps,
  type ReactNode,
} from "react";
import {
  useController,
  type Control,
  type FieldPath,
  type FieldPathValue,
  type FieldValues,
  type UseFormReturn,
} from "react-hook-form";
import { ApiError } from "@/lib/api-client/client";
import { cn } from "./cn";
import { Dialog, DialogButtons, type DialogProps } from "./dialog";
import { RadioCards } from "./radio-cards";
import { ErrorState } from "./states";
import { Field, Input, type FieldProps } from "./field";
import { splitByField } from "./form-errors";

/** The API's error; null when the fields show all of it. */
const RemainingError = createContext<unknown>(null);

const focusFirstWrong = (form: HTMLFormElement | null): void => {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
};

interface FormProps<Values extends FieldValues, Context, Sent> extends Omit<
  ComponentProps<"form">,
  "onSubmit"
> {
  readonly form: UseFormReturn<Values, Context, Sent>;
  /**
   * Called with the parsed values when all are valid. It may reject with an `ApiError`, which the
   * caller then passes as `error`.
   */
  readonly onSubmit: (values: Sent) => unknown;
  /**
   * The API's error for the last submission; its `details` are shown at the fields that they name.
   */
  readonly error?: unknown;
  /**
   * For a path in the API's errors, the name of the form's field. Only needed where they differ.
   */
  readonly fieldOf?: Readonly<Record<string, FieldPath<Values>>>;
}

/**
 * A form that validates on submission and focuses the first invalid field, also after an error of
 * the API.
 */
export const Form = <Values extends FieldValues, Context, Sent>({
  form,
  onSubmit,
  error,
  fieldOf = {},
  children,
  ...props
}: FormProps<Values, Context, Sent>): ReactNode => {
  const element = useRef<HTMLFormElement>(null);
  const { submitCount } = form.formState;
  const isField = (path: string): path is FieldPath<Values> => path in form.getValues();
  const { fields, rest } = splitByField(
    error,
    (path) => fieldOf[path] ?? (isField(path) ? path : undefined),
  );
  const submit = async (values: Sent): Promise<void> => {
    try {
      await onSubmit(values);
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
    }
  };
  useEffect(() => focusFirstWrong(element.current), [submitCount]);
  useEffect(() => {
    if (fields.length === 0) return undefined;
    for (const { name, message } of fields) form.setError(name, { type: "server", message });
    // Waits for the next rendering, which marks the fields as invalid.
    const frame = requestAnimationFrame(() => focusFirstWrong(element.current));
    return () => cancelAnimationFrame(frame);
    // Only a new error sets the messages again, because a change of a field removes its message.
  }, [error]);
  return (
    <form
      {...props}
      ref={element}
      noValidate
      onSubmit={(event) => {
        // React also passes the events of a dialog's form to the form that renders the dialog.
        event.stopPropagation();
        void form.handleSubmit(submit)(event);
      }}
    >
      <RemainingError value={rest}>{children}</RemainingError>
    </form>
  );
};

interface FormErrorProps {
  /** Sentence that says where the money is after the error. */
  readonly money: string;
  readonly onRetry?: () => void;
}

/** Shows the API's error, unless the fields show all of it. */
export const FormError = ({ money, onRetry }: FormErrorProps): ReactNode => {
  const error = useContext(RemainingError);
  return error == null ? null : (
    <ErrorState compact error={error} money={money} onRetry={onRetry} />
  );
};

interface DialogFormProps<Values extends FieldValues, Context, Sent>
  extends
    FormProps<Values, Context, Sent>,
    Pick<ComponentProps<typeof DialogButtons>, "onCancel" | "busy" | "disabled" | "tone"> {
  /** Says where the money is after an error. */
  readonly money: string;
  readonly act: string;
  /** The same request as example code. */
  readonly snippet?: ReactNode;
  /** Keeps the buttons in view while the fields scroll. */
  readonly long?: boolean;
}

export const DialogForm = <Values extends FieldValues, Context, Sent>({
  money,
  act,
  snippet,
  onCancel,
  busy,
  disabled,
  tone,
  long = false,
  children,
  ...form
}: DialogFormProps<Values, Context, Sent>): ReactNode => (
  <Form {...form} className="flex flex-col gap-4">
    {children}
    <FormError money={money} />
    {snippet}
    <div className={cn(long && "sticky -bottom-4 -mx-4 -mb-4 border-t bg-surface px-4 py-3")}>
      <DialogButtons onCancel={onCancel} busy={busy} disabled={disabled} tone={tone}>
        {act}
      </DialogButtons>
    </div>
  </Form>
);

export interface FormDialogProps<Values extends FieldValues, Context, Sent>
  extends
    Omit<DialogFormProps<Values, Context, Sent>, "title" | "error" | "busy" | "onCancel">,
    Pick<DialogProps, "open" | "onClose" | "title" | "description" | "size"> {
  /** The mutation that `onSubmit` runs. */
  readonly mutation: { readonly error: unknown; readonly isPending: boolean };
}

/** A dialog that is one form. It closes when `onSubmit` resolves, and stays when it rejects. */
export const FormDialog = <Values extends FieldValues, Context, Sent>({
  open,
  onClose,
  title,
  description,
  size,
  mutation,
  onSubmit,
  ...form
}: FormDialogProps<Values, Context, Sent>): ReactNode => (
  <Dialog open={open} onClose={onClose} title={title} description={description} size={size}>
    <DialogForm
      {...form}
      error={mutation.error}
      busy={mutation.isPending}
      onCancel={onClose}
      onSubmit={async (values) => {
        await onSubmit(values);
        onClose();
      }}
    />
  </Dialog>
);

type Bound<Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent> = {
  readonly control: Control<Values, Context, Sent>;
  readonly name: Name;
};

type TextFieldProps<
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
> = Bound<Values, Name, Context, Sent> &
  Omit<FieldProps, "error" | "children"> & {
    readonly input?: Omit<
      ComponentProps<typeof Input>,
      "name" | "value" | "onChange" | "onBlur" | "ref"
    >;
  };

export const TextField = <
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
>({
  control,
  name,
  input = {},
  ...props
}: TextFieldProps<Values, Name, Context, Sent>): ReactNode => {
  const { field, fieldState } = useController({ control, name });
  return (
    <Field {...props} error={fieldState.error?.message}>
      <Input {...input} {...field} />
    </Field>
  );
};

type ControlFieldProps<
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
> = Bound<Values, Name, Context, Sent> &
  Omit<FieldProps, "error" | "children"> & {
    readonly children: (bound: {
      readonly value: FieldPathValue<Values, Name>;
      readonly onValueChange: (value: FieldPathValue<Values, Name>) => void;
    }) => ReactNode;
  };

export const ControlField = <
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
>({
  control,
  name,
  children,
  ...props
}: ControlFieldProps<Values, Name, Context, Sent>): ReactNode => {
  const { field, fieldState } = useController({ control, name });
  return (
    <Field {...props} error={fieldState.error?.message}>
      {children({ value: field.value, onValueChange: field.onChange })}
    </Field>
  );
};

type RadioFieldProps<
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
> = Bound<Values, Name, Context, Sent> &
  Pick<ComponentProps<typeof RadioCards>, "options"> & { readonly label: string };

export const RadioField = <
  Values extends FieldValues,
  Name extends FieldPath<Values>,
  Context,
  Sent,
>({
  control,
  name,
  label,
  options,
}: RadioFieldProps<Values, Name, Context, Sent>): ReactNode => {
  const { field } = useController({ control, name });
  const labelId = useId();
  return (
    <div className="flex flex-col gap-1">
      <span id={labelId} className="text-sm font-medium text-fg-2">
        {label}
      </span>
      <RadioCards
        labelledBy={labelId}
        value={field.value}
        onValueChange={field.onChange}
        options={options}
      />
    </div>
  );
};
