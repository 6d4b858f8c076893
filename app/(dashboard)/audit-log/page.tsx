import type { Metadata } from "next";
import type { ReactNode } from "react";
import { AuditLog } from "@/components/features/audit/audit-log";

export const metadata: Metadata = { title: "Audit log" };

const Page = (): ReactNode => <AuditLog />;

export default Page;
