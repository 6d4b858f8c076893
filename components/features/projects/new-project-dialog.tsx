"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import { useApiMutation } from "@/components/features/session/use-api";
import { FormDialog, TextField } from "@/components/ui/form";
import { createProject } from "@/lib/contracts/members";
import { chooseProject } from "./use-project";

const projectForm = z.object({
  name: checkedBy(createProject.body.shape.name, "name", "Enter a name."),
});

interface NewProjectDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export const NewProjectDialog = ({ open, onClose }: NewProjectDialogProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(projectForm), defaultValues: { name: "" } });
  const create = useApiMutation(createProject);
  // Resets the form, because the dialog stays mounted and must be empty when it is opened again.
  const close = (): void => {
    form.reset();
    create.reset();
    onClose();
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      title="New project"
      description="A project has its own wallets, records, API keys and members. You are its owner."
      form={form}
      mutation={create}
      onSubmit={async ({ name }) => {
        const project = await create.mutateAsync({ body: { name } });
        chooseProject(project.id);
      }}
      money="No project was created."
      act="Create project"
    >
      <TextField
        control={form.control}
        name="name"
        label="Name"
        input={{ maxLength: 80, autoComplete: "off" }}
      />
    </FormDialog>
  );
};
