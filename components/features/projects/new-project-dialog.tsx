"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { createProject } from "@/lib/contracts/members";
import { chooseProject } from "./chosen-project";

const projectForm = z.object({ name: checkedBy(createProject.body.shape.name, "name", "Enter a name.") });

interface NewProjectDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export const NewProjectDialog = ({ open, onOpenChange }: NewProjectDialogProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    title="New project"
    description="A project has its own wallets, records, API keys and members. You are its owner."
  >
    <NewProjectForm onCancel={() => onOpenChange(false)} />
  </Dialog>
);

const NewProjectForm = ({ onCancel }: { readonly onCancel: () => void }): ReactNode => {
  const form = useForm({ resolver: zodResolver(projectForm), defaultValues: { name: "" } });
  const create = useApiMutation(createProject);
  const submit = async ({ name }: z.infer<typeof projectForm>): Promise<void> => {
    const project = await create.mutateAsync({ body: { name } }).catch(() => null);
    if (project !== null) chooseProject(project.id);
  };
  return (
    <Form form={form} error={create.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField control={form.control} name="name" label="Name" input={{ maxLength: 80, autoComplete: "off" }} />
      <FormError money="No project was created." />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create project
        </Button>
      </div>
    </Form>
  );
};
