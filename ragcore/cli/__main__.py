from ragcore.cli.main import main

raise SystemExit(main())
