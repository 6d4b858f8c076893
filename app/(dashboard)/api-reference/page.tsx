import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ApiReference } from "@/components/features/api-reference/api-reference";

export const metadata: Metadata = { title: "API reference" };

const ApiReferencePage = (): ReactNode => <ApiReference />;

export default ApiReferencePage;
