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
import { createContext, useContext, useEffect, useRef, type ComponentProps, type ReactNode } from "react";
import {
  useController,
  type Control,
  type FieldPath,
  type FieldPathValue,
  type FieldValues,
  type UseFormReturn,
} from "react-hook-form";
import { ErrorState } from "./error-state";
import { Field, Input, type FieldProps } from "./field";
import { splitByField } from "./form-errors";

/** The API's error, when some of it is shown at no field; else null. */
const RemainingError = createContext<unknown>(null);

const focusFirstWrong = (form: HTMLFormElement | null): void => {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
};

interface FormProps<Values extends FieldValues, Context, Sent> extends Omit<ComponentProps<"form">, "onSubmit"> {
  readonly form: UseFormReturn<Values, Context, Sent>;
  /** Called with the parsed values, when all of them are right. */
  readonly onSubmit: (values: Sent) => unknown;
  /** The API's error for the last submission; its `details` are shown at the fields that they name. */
  readonly error?: unknown;
  /** Path of the API → name of a field, where the two differ. */
  readonly fieldOf?: Readonly<Record<string, FieldPath<Values>>>;
}

/** Checks on submission, and puts the focus on the first field that is wrong, by its own check or by the API's. */
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
  const { fields, rest } = splitByField(error, (path) => fieldOf[path] ?? (isField(path) ? path : undefined));
  useEffect(() => focusFirstWrong(element.current), [submitCount]);
  useEffect(() => {
    if (fields.length === 0) return undefined;
    for (const { name, message } of fields) form.setError(name, { type: "server", message });
    // The fields are marked as wrong when they are drawn next.
    const frame = requestAnimationFrame(() => focusFirstWrong(element.current));
    return () => cancelAnimationFrame(frame);
    // Only another answer sets errors again; they go when the field is changed.
  }, [error]);
  return (
    <form
      {...props}
      ref={element}
      noValidate
      onSubmit={(event) => {
        // In a dialog it is a child of the form behind it, as far as React's events go.
        event.stopPropagation();
        void form.handleSubmit((values) => onSubmit(values))(event);
      }}
    >
      <RemainingError value={rest}>{children}</RemainingError>
    </form>
  );
};

/** Shows the API's error unless the fields show all of it. `money` tells where the money is. */
export const FormError = ({ money }: { readonly money: string }): ReactNode => {
  const error = useContext(RemainingError);
  return error == null ? null : <ErrorState compact error={error} money={money} />;
};

type Bound<Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent> = {
  readonly control: Control<Values, Context, Sent>;
  readonly name: Name;
};

type TextFieldProps<Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent> = Bound<
  Values,
  Name,
  Context,
  Sent
> &
  Omit<FieldProps, "error" | "children"> & {
    /** Of the input itself. */
    readonly input?: Omit<ComponentProps<typeof Input>, "name" | "value" | "onChange" | "onBlur" | "ref">;
  };

/** A text field of a form, with its label, hint and error. */
export const TextField = <Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent>({
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

type ControlFieldProps<Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent> = Bound<
  Values,
  Name,
  Context,
  Sent
> &
  Omit<FieldProps, "error" | "children"> & {
    readonly children: (bound: {
      readonly value: FieldPathValue<Values, Name>;
      readonly onValueChange: (value: FieldPathValue<Values, Name>) => void;
    }) => ReactNode;
  };

/** A select, combobox or any other control of a form, with its label, hint and error. */
export const ControlField = <Values extends FieldValues, Name extends FieldPath<Values>, Context, Sent>({
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
