"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import { getMe, listMembers, updateMe } from "@/lib/api-client/calls.gen";
import { personName } from "@/lib/contracts/names";
import type { Me } from "./use-me";

const nameForm = z.object({
  name: z
    .string()
    .trim()
    .refine(
      (text) => text === "" || personName.safeParse(text).success,
      "Enter a name of up to 80 characters, without @ and without a link.",
    ),
});

/** The form for the display name. Its React key must be the last saved name. */
export const NameForm = ({ me }: { readonly me: Me }): ReactNode => {
  const cache = useCache();
  const update = useApiMutation(updateMe);
  const form = useForm({
    resolver: zodResolver(nameForm),
    defaultValues: { name: me.name ?? "" },
  });
  return (
    <Form
      form={form}
      error={update.error}
      onSubmit={async ({ name }) => {
        await update.mutateAsync({ body: { name: name === "" ? null : name } });
        toast.success(name === "" ? "Your name is removed." : "Your name is saved.");
        await cache.refresh(getMe, listMembers);
      }}
      className="flex flex-wrap items-start gap-3 border-b px-4 py-3"
    >
      <TextField
        control={form.control}
        name="name"
        label="Your name"
        className="min-w-60 flex-1"
        input={{ autoComplete: "name" }}
        hint="Members of your projects see it beside your address."
      />
      <div className="pt-[22px]">
        <Button type="submit" loading={update.isPending} disabled={!form.formState.isDirty}>
          Save
        </Button>
      </div>
      <FormError money="Your name is as it was." />
    </Form>
  );
};
