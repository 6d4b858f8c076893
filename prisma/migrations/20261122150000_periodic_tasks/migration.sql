-- When each periodic task of the whole installation may run next. An instance claims a run by moving `due_at` on.
CREATE TABLE "periodic_task" (
  "name" TEXT NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "periodic_task_pkey" PRIMARY KEY ("name")
);
